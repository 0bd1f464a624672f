/** A signal that aborts with the first of others. They hold it until `release`, which whoever joined them has to call. */
export interface JoinedSignal {
  readonly signal: AbortSignal;
  readonly release: () => void;
}

/**
 * What AbortSignal.any is for. That of Node 20 may be forgotten at a garbage collection while somebody waits for it, and what it
 * joins grows for as long as one of them lives.
 */
export function joinSignals(given: readonly (AbortSignal | undefined)[]): JoinedSignal {
  const signals = given.filter((one) => one !== undefined);
  const joined = new AbortController();
  const release = (): void => {
    for (const one of signals) one.removeEventListener("abort", end);
  };
  const end = (): void => {
    release();
    joined.abort(signals.find(({ aborted }) => aborted)?.reason);
  };
  for (const one of signals) one.addEventListener("abort", end);
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
