import type { Clock } from "../common/clock.js";

export interface Attempts {
  /** Whether a secret is right: told at once where it is, and the later the more wrong ones the address has sent where it is not. */
  check(address: string, isRight: boolean): Promise<boolean>;
}

const FIRST_DELAY_MS = 25;
const LONGEST_DELAY_MS = 2_000;
const FORGOTTEN_AFTER_MS = 60_000;
const MAX_ADDRESSES = 1_000;
/** Guesses that wait at a time, of all addresses: more are answered at once, since whoever sends so many waits for none of them. */
const MAX_HELD = 1_000;

interface Entry {
  readonly wrong: number;
  readonly last: number;
}

/** The first wrong attempt is answered at once: everyone mistypes. */
const delayAfter = (wrong: number): number => (wrong < 2 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (wrong - 2)));

/**
 * Slows down who guesses, address by address: each connection that waits makes no other guess. Whoever has the right token is never
 * held, also beside a program of the same address that guesses, or has an old one.
 */
export const createAttempts = ({
  clock,
  capacity = MAX_ADDRESSES,
}: {
  readonly clock: Clock;
  readonly capacity?: number;
}): Attempts => {
  /** The one that was wrong last is last. */
  const entries = new Map<string, Entry>();
  let held = 0;

  /** Wrong attempts of an address, this one included. */
  const count = (address: string): number => {
    const known = entries.get(address);
    const before = known && clock.elapsed() - known.last < FORGOTTEN_AFTER_MS ? known.wrong : 0;
    entries.delete(address);
    entries.set(address, { wrong: before + 1, last: clock.elapsed() });
    const [oldest] = entries.keys();
    if (entries.size > capacity && oldest !== undefined) entries.delete(oldest);
    return before + 1;
  };

  return {
    check: async (address, isRight) => {
      if (isRight) return true;
      const delay = delayAfter(count(address));
      if (delay === 0 || held >= MAX_HELD) return false;
      held += 1;
      await new Promise<void>((resolve) => clock.after(delay, resolve));
      held -= 1;
      return false;
    },
  };
};
