import { useCallback, useEffect, useState } from "react";

export interface Loaded<T> {
  readonly value: T | null;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/** What `load` answers, asked again when `key` changes or on `reload`; the last answer of a key stays until the next is there. */
export function useLoad<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string; value: T | null; error: unknown; isLoading: boolean }>({
    key,
    value: null,
    error: null,
    isLoading: true,
  });
  const [turn, setTurn] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for what load closes over.
  useEffect(() => {
    const stop = new AbortController();
    setState((before) => ({ ...(before.key === key ? before : { key, value: null }), error: null, isLoading: true }));
    load(stop.signal).then(
      (value) => !stop.signal.aborted && setState({ key, value, error: null, isLoading: false }),
      (error: unknown) => !stop.signal.aborted && setState((before) => ({ ...before, error, isLoading: false })),
    );
    return () => stop.abort();
  }, [key, turn]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  return state.key === key ? { ...state, reload } : { value: null, error: null, isLoading: true, reload };
}
