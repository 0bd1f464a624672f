import type { Clock } from "../common/clock.js";

export interface Scheduler {
  enqueue(job_id: string): void;
  /** Takes a waiting job out of the queue. */
  remove(job_id: string): void;
  /** Takes every waiting job out of the queue, and answers them in order. */
  clear(): string[];
  /** 1 for the next to start; null for one that does not wait. */
  position(job_id: string): number | null;
  waiting(): number;
  /** Resolves when nothing waits or runs. */
  idle(): Promise<void>;
}

interface SchedulerOptions {
  readonly slots: number;
  /** Jobs of one batch that share a slot, at most. */
  readonly jobsPerBatch: number;
  /** Null for a job that has a slot of its own. */
  readonly batchOf: (job_id: string) => string | null;
  readonly clock: Clock;
  /** Runs a job to its end. Must not reject; its place in the slot is free again when it resolves. */
  readonly run: (job_id: string) => Promise<void>;
}

interface Slot {
  readonly batch: string | null;
  jobs: number;
}

/** First come, first served, `slots` at a time; who comes first may share the slot of its batch. */
export function createScheduler({ slots, jobsPerBatch, batchOf, clock, run }: SchedulerOptions): Scheduler {
  const queue = new Set<string>();
  const taken = new Set<Slot>();
  let waiters: (() => void)[] = [];

  const settle = (): void => {
    if (taken.size > 0 || queue.size > 0) return;
    for (const resolve of waiters) resolve();
    waiters = [];
  };

  const slotFor = (batch: string | null): Slot | undefined => {
    if (batch !== null) for (const slot of taken) if (slot.batch === batch && slot.jobs < jobsPerBatch) return slot;
    if (taken.size >= slots) return undefined;
    const slot = { batch, jobs: 0 };
    taken.add(slot);
    return slot;
  };

  const pump = (): void => {
    for (const job_id of queue) {
      const slot = slotFor(batchOf(job_id));
      if (!slot) return;
      queue.delete(job_id);
      slot.jobs += 1;
      void run(job_id).then(() => {
        slot.jobs -= 1;
        if (slot.jobs === 0) taken.delete(slot);
        pump();
        settle();
      });
    }
  };

  return {
    enqueue(job_id) {
      queue.add(job_id);
      clock.after(0, pump); // the start call is answered first
    },
    remove(job_id) {
      queue.delete(job_id);
      settle();
    },
    clear() {
      const waiting = [...queue];
      queue.clear();
      settle();
      return waiting;
    },
    position(job_id) {
      const index = [...queue].indexOf(job_id);
      return index < 0 ? null : index + 1;
    },
    waiting: () => queue.size,
    idle: () =>
      new Promise((resolve) => {
        waiters.push(resolve);
        settle();
      }),
  };
}
