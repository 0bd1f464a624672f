import type { Clock } from "../../common/clock.js";

export interface Watchdog {
  /** The worker gave a sign of life, or there is something new to wait for. */
  pat(): void;
  /** Nothing is expected of the worker. */
  rest(): void;
}

interface WatchdogOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly onSilent: () => void;
}

/** Barks when `timeoutMs` pass without a pat. */
export function createWatchdog({ clock, timeoutMs, onSilent }: WatchdogOptions): Watchdog {
  let disarm: (() => void) | undefined;
  const rest = (): void => {
    disarm?.();
    disarm = undefined;
  };
  return {
    pat() {
      rest();
      disarm = clock.after(timeoutMs, () => {
        // After a long block of this process its timers run before its pipes are read: look once more.
        disarm = clock.after(0, onSilent);
      });
    },
    rest,
  };
}
