import type { Log } from "../common/error.js";

export interface Listeners<Args extends readonly unknown[]> {
  /** The answer takes the listener away again. */
  add(listener: (...args: Args) => void): () => void;
  tell(...args: Args): void;
}

/**
 * Listeners called in the order they came. One that throws is logged, and disturbs neither the others nor the caller. What
 * is told while telling waits its turn, so that every listener is told everything in one order.
 */
export function createListeners<Args extends readonly unknown[]>(log: Log): Listeners<Args> {
  const entries = new Set<{ readonly listener: (...args: Args) => void }>();
  const untold: Args[] = [];
  let telling = false;

  const tellAll = (args: Args): void => {
    for (const { listener } of [...entries]) {
      try {
        listener(...args);
      } catch (err) {
        log.error({ err }, "a job listener failed");
      }
    }
  };

  return {
    add(listener) {
      const entry = { listener };
      entries.add(entry);
      return () => void entries.delete(entry);
    },
    tell(...args) {
      untold.push(args);
      if (telling) return;
      telling = true;
      for (let next = untold.shift(); next; next = untold.shift()) tellAll(next);
      telling = false;
    },
  };
}
