import type { Clock } from "../../common/clock.js";
import { ImprintError } from "../../common/error.js";
import { type Deferred, defer } from "../../common/promises.js";
import type { Worker } from "./worker.js";

/** A worker for one task or chat. */
interface Checkout {
  readonly worker: Worker;
  /** Gives it back; `retire` when its process should not be used again. */
  release(retire?: boolean): void;
}

export interface Pool {
  /** A worker of this base model that nobody else uses. Rejects with ImprintError, or with the signal's reason. */
  acquire(base: string, signal?: AbortSignal): Promise<Checkout>;
  /** Whether a worker, whatever its base, is to be had without waiting for somebody's work. */
  isFree(): boolean;
  /** A worker that answers previews and renders prompts, whatever else it does; undefined when none is alive. */
  share(base: string): Checkout | undefined;
  close(graceMs: number): Promise<void>;
}

interface PoolOptions {
  readonly maxWorkers: number;
  readonly start: (base: string) => Worker;
  /** For workers that have to make room. */
  readonly graceMs: number;
  /** Ends a worker that nobody has used for so long. Default: it stays warm. */
  readonly rest?: { readonly afterMs: number; readonly clock: Clock };
}

interface Entry {
  readonly base: string;
  readonly worker: Worker;
  checkedOut: boolean;
  sharers: number;
  /** Keeps it from being ended for its rest. */
  stay: () => void;
}

interface Waiting {
  readonly base: string;
  readonly checkout: Deferred<Checkout>;
}

const RESTED = new ImprintError("WORKER_CRASHED", "The trainer had nothing to do for a while.");
const MAKE_ROOM = new ImprintError("WORKER_CRASHED", "The trainer made room for another base model.");

/** Warm workers, the least recently used first. One that has to make room is gone before its successor starts: memory is scarce. */
export function createPool({ maxWorkers, start, graceMs, rest }: PoolOptions): Pool {
  const entries = new Set<Entry>();
  const waiting = new Set<Waiting>();
  let closed = false;

  const idle = (entry: Entry): boolean => entry.worker.alive() && !entry.checkedOut && entry.sharers === 0;

  const endLater = (entry: Entry): void => {
    if (rest) entry.stay = rest.clock.after(rest.afterMs, () => void entry.worker.terminate(RESTED, graceMs));
  };

  const lend = (entry: Entry): Checkout => {
    entry.checkedOut = true;
    entry.stay();
    return {
      worker: entry.worker,
      release(retire = false) {
        entry.checkedOut = false;
        if (entries.delete(entry)) entries.add(entry); // the most recently used is last
        if (retire) void entry.worker.terminate(MAKE_ROOM, graceMs);
        else endLater(entry);
        serve();
      },
    };
  };

  const open = (base: string): Entry => {
    const entry: Entry = { base, worker: start(base), checkedOut: false, sharers: 0, stay: () => {} };
    entries.add(entry);
    void entry.worker.gone.then(() => {
      entry.stay();
      entries.delete(entry);
      serve();
    });
    return entry;
  };

  /** Finds or makes an entry for the base; undefined when it has to wait. */
  const entryFor = (base: string): Entry | undefined => {
    const all = [...entries];
    const warm = all.find((entry) => entry.base === base && idle(entry));
    if (warm) return warm;
    if (entries.size < maxWorkers) return open(base);
    const leaving = all.some((entry) => !entry.worker.alive());
    if (!leaving) void all.find(idle)?.worker.terminate(MAKE_ROOM, graceMs);
    return undefined;
  };

  const serve = (): void => {
    for (const next of waiting) {
      if (closed) return;
      const entry = entryFor(next.base);
      if (!entry) return;
      waiting.delete(next);
      next.checkout.resolve(lend(entry));
    }
  };

  return {
    acquire(base, signal) {
      if (closed) return Promise.reject(closing());
      if (signal?.aborted) return Promise.reject(signal.reason);
      const next: Waiting = { base, checkout: defer<Checkout>() };
      const leave = (): void => {
        waiting.delete(next);
        next.checkout.reject(signal?.reason);
      };
      signal?.addEventListener("abort", leave, { once: true });
      waiting.add(next);
      serve();
      return next.checkout.promise.finally(() => signal?.removeEventListener("abort", leave));
    },
    isFree: () => waiting.size === 0 && (entries.size < maxWorkers || [...entries].some(idle)),
    share(base) {
      const alive = closed ? [] : [...entries].filter(({ worker }) => worker.alive());
      const entry = alive.find((one) => one.base === base) ?? alive[0];
      if (!entry) return undefined;
      entry.sharers += 1;
      return {
        worker: entry.worker,
        release() {
          entry.sharers -= 1;
          serve();
        },
      };
    },
    async close(closeGraceMs) {
      closed = true;
      for (const { checkout } of waiting) checkout.reject(closing());
      waiting.clear();
      await Promise.all([...entries].map(({ worker }) => worker.terminate(closing(), closeGraceMs).then(() => worker.gone)));
    },
  };
}

function closing(): ImprintError {
  return new ImprintError("SHUTTING_DOWN", "The service is shutting down.");
}
