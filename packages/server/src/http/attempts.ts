import type { Clock } from "../common/clock.js";
import { ProblemError } from "../common/error.js";

export interface Attempts {
  /**
   * Whether a secret is right, told the later the more wrong ones the address has sent.
   * @throws ProblemError TOO_MANY_ATTEMPTS without a look at the secret
   */
  check(address: string, isRight: () => boolean): Promise<boolean>;
}

const FIRST_DELAY_MS = 25;
const LONGEST_DELAY_MS = 2_000;
/** Wrong attempts of one address that wait for their answer; any more are refused. */
const MAX_HELD = 8;
const FORGOTTEN_AFTER_MS = 60_000;
const MAX_ADDRESSES = 1_000;

interface Entry {
  wrong: number;
  held: number;
  last: number;
}

/** The first wrong attempt is answered at once: everyone mistypes. */
const delayAfter = (wrong: number): number => (wrong < 2 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (wrong - 2)));

const tooMany = (): ProblemError =>
  new ProblemError("TOO_MANY_ATTEMPTS", "This address sent too many wrong tokens: wait two seconds, then send the right one.", {
    headers: { "retry-after": String(LONGEST_DELAY_MS / 1000) },
  });

/** Slows down who guesses, address by address. A right token is never held, and waits two seconds at most behind wrong ones. */
export const createAttempts = ({
  clock,
  capacity = MAX_ADDRESSES,
}: {
  readonly clock: Clock;
  readonly capacity?: number;
}): Attempts => {
  /** The one that was wrong last is last. */
  const entries = new Map<string, Entry>();

  const count = (address: string): Entry => {
    const known = entries.get(address);
    const recent = known && (known.held > 0 || clock.now() - known.last < FORGOTTEN_AFTER_MS);
    const entry = recent ? known : { wrong: 0, held: 0, last: 0 };
    entry.wrong += 1;
    entry.last = clock.now();
    entries.delete(address);
    entries.set(address, entry);
    const [oldest] = entries.keys();
    if (entries.size > capacity && oldest !== undefined) entries.delete(oldest);
    return entry;
  };

  return {
    check: async (address, isRight) => {
      if ((entries.get(address)?.held ?? 0) >= MAX_HELD) throw tooMany();
      if (isRight()) return true;
      const entry = count(address);
      const delay = delayAfter(entry.wrong);
      if (delay === 0) return false;
      entry.held += 1;
      await new Promise<void>((resolve) => clock.after(delay, resolve));
      entry.held -= 1;
      return false;
    },
  };
};
