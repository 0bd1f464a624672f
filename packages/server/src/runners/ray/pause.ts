import type { Clock } from "../../common/clock.js";

/** Resolves after that time, or when the signal aborts. */
export const pause = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      disarm();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const disarm = clock.after(ms, done);
    signal.addEventListener("abort", done);
  });
