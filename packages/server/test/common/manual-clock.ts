import type { Clock } from "../../src/common/clock.js";

export interface ManualClock extends Clock {
  /** Lets time pass: runs what is due, in order, also what that schedules. */
  advance(ms: number): void;
  /** Puts the machine's clock forward or back, as a time server or a wake-up does: timers run as before. */
  shift(ms: number): void;
  /** Timers that are armed. */
  armed(): number;
}

export function manualClock(start = Date.UTC(2026, 0, 1)): ManualClock {
  let time = start;
  let ahead = 0;
  let timers: { readonly at: number; readonly run: () => void }[] = [];
  return {
    now: () => time + ahead,
    elapsed: () => time,
    after(ms, run) {
      const timer = { at: time + ms, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(ms) {
      const end = time + ms;
      for (;;) {
        const due = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (!due) break;
        timers = timers.filter((other) => other !== due);
        time = Math.max(time, due.at);
        due.run();
      }
      time = end;
    },
    shift(ms) {
      ahead += ms;
    },
    armed: () => timers.length,
  };
}
