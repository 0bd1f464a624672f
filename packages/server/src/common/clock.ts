/** Time as jobs and runners see it, so that tests decide when it passes. */
export interface Clock {
  /** Milliseconds since the epoch, which jump where the machine's clock is set. */
  now(): number;
  /** Milliseconds since some moment, which never do: how long something took. */
  elapsed(): number;
  /** Calls `run` once after `ms` milliseconds; the answer calls it off. */
  after(ms: number, run: () => void): () => void;
}

const LONGEST_TIMEOUT = 2 ** 31 - 1; // setTimeout fires at once beyond this

export function systemClock(): Clock {
  const after: Clock["after"] = (ms, run) => {
    if (ms > LONGEST_TIMEOUT) {
      let stop = after(LONGEST_TIMEOUT, () => {
        stop = after(ms - LONGEST_TIMEOUT, run);
      });
      return () => stop();
    }
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  };
  return { now: () => Date.now(), elapsed: () => performance.now(), after };
}
