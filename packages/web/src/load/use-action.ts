import { useCallback, useState } from "react";

export interface Action<Args extends readonly unknown[]> {
  readonly run: (...args: Args) => Promise<void>;
  readonly isBusy: boolean;
  readonly error: unknown;
}

/** Something that a person starts: busy while it runs, with the error of the last try. */
export function useAction<Args extends readonly unknown[]>(act: (...args: Args) => Promise<unknown>): Action<Args> {
  const [state, setState] = useState<{ isBusy: boolean; error: unknown }>({ isBusy: false, error: null });
  const run = useCallback(
    async (...args: Args) => {
      setState({ isBusy: true, error: null });
      try {
        await act(...args);
        setState({ isBusy: false, error: null });
      } catch (error) {
        setState({ isBusy: false, error });
      }
    },
    [act],
  );
  return { run, ...state };
}
