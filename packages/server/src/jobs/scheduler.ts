import type { Clock } from "../common/clock.js";

export interface Scheduler {
  enqueue(job_id: string): void;
  /** Takes a waiting job out of the queue. */
  remove(job_id: string): void;
  /** Takes every waiting job out of the queue, and answers them in order. */
  clear(): string[];
  /** 1 for the next to start, among those that wait for the same place; null for one that does not wait. */
  position(job_id: string): number | null;
  waiting(): number;
  /** Resolves when nothing waits or runs. */
  idle(): Promise<void>;
}

interface SchedulerOptions {
  readonly slots: number;
  /** Name of the one place beside the slots that a job takes; null: it takes a slot. */
  readonly besideOf: (job_id: string) => string | null;
  readonly clock: Clock;
  /** Runs a job to its end. Must not reject; its slot is free again when it resolves. */
  readonly run: (job_id: string) => Promise<void>;
}

/** First come, first served, `slots` at a time, and one at each place beside them. */
export function createScheduler({ slots, besideOf, clock, run }: SchedulerOptions): Scheduler {
  const queue = new Set<string>();
  const active = new Set<string>();
  let waiters: (() => void)[] = [];

  const settle = (): void => {
    if (active.size > 0 || queue.size > 0) return;
    for (const resolve of waiters) resolve();
    waiters = [];
  };

  const isPlaceFree = (beside: string | null): boolean =>
    [...active].filter((one) => besideOf(one) === beside).length < (beside === null ? slots : 1);

  const pump = (): void => {
    for (const job_id of queue) {
      if (!isPlaceFree(besideOf(job_id))) continue;
      queue.delete(job_id);
      active.add(job_id);
      void run(job_id).then(() => {
        active.delete(job_id);
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
      if (!queue.has(job_id)) return null;
      const index = [...queue].filter((one) => besideOf(one) === besideOf(job_id)).indexOf(job_id);
      return index + 1;
    },
    waiting: () => queue.size,
    idle: () =>
      new Promise((resolve) => {
        waiters.push(resolve);
        settle();
      }),
  };
}
