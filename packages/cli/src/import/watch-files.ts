import { setTimeout as sleep } from "node:timers/promises";
import type { Candidate } from "../files/candidate.js";

export interface WatchClock {
  /** Milliseconds since 1970, as the times of files. */
  now(): number;
  /** Resolves after the time, or at once when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: WatchClock = {
  now: Date.now,
  sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
};

/** A session that was not written to for so long has ended, or rests. */
export const QUIET_MS = 5_000;
const LOOK_MS = 2_000;

/**
 * Hands over each candidate once nobody writes to it any more, and again when it changed since. Resolves when `signal` aborts.
 * Looks again and again instead of asking the system for changes: that works on every file system.
 */
export async function watchFiles({
  look,
  take,
  clock,
  signal,
}: {
  readonly look: () => Promise<readonly Candidate[]>;
  readonly take: (candidates: readonly Candidate[]) => Promise<void>;
  readonly clock: WatchClock;
  readonly signal: AbortSignal;
}): Promise<void> {
  const taken = new Map<string, string>();
  const stampOf = ({ size, modified }: Candidate): string => `${size} ${modified}`;
  while (!signal.aborted) {
    const candidates = await look();
    const quietSince = clock.now() - QUIET_MS;
    const ready = candidates.filter((one) => one.modified <= quietSince && taken.get(one.path) !== stampOf(one));
    if (ready.length > 0) await take(ready);
    for (const one of ready) taken.set(one.path, stampOf(one));
    await clock.sleep(LOOK_MS, signal);
  }
}
