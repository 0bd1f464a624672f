/** A signal that aborts with the first of others. They hold it until `release`, which whoever joined them has to call. */
export interface JoinedSignal {
  readonly signal: AbortSignal;
  readonly release: () => void;
}

/** What is to be told of each signal's abort: one listener of it tells all, since Node warns of more than ten. */
const told = new WeakMap<AbortSignal, { readonly ends: Set<() => void>; readonly tell: () => void }>();

/** Calls `end` when the signal aborts; the answer takes it off again. */
function hear(signal: AbortSignal, end: () => void): () => void {
  let entry = told.get(signal);
  if (entry === undefined) {
    const ends = new Set<() => void>();
    entry = { ends, tell: () => void [...ends].map((one) => one()) };
    told.set(signal, entry);
    signal.addEventListener("abort", entry.tell);
  }
  const { ends, tell } = entry;
  ends.add(end);
  return () => {
    if (!ends.delete(end) || ends.size > 0) return;
    signal.removeEventListener("abort", tell);
    told.delete(signal);
  };
}

/**
 * What AbortSignal.any is for. That of Node 20 may be forgotten at a garbage collection while somebody waits for it, and what it
 * joins grows for as long as one of them lives.
 */
export function joinSignals(given: readonly (AbortSignal | undefined)[]): JoinedSignal {
  const signals = given.filter((one) => one !== undefined);
  const joined = new AbortController();
  const release = (): void => {
    for (const leave of leaves) leave();
  };
  const end = (): void => {
    release();
    joined.abort(signals.find(({ aborted }) => aborted)?.reason);
  };
  const leaves = signals.map((one) => hear(one, end));
  if (signals.some(({ aborted }) => aborted)) end();
  return { signal: joined.signal, release };
}

/** Works with a signal that aborts with the first of others, for as long as the work lasts. */
export async function withSignals<T>(
  signals: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, release } = joinSignals(signals);
  try {
    return await work(signal);
  } finally {
    release();
  }
}
