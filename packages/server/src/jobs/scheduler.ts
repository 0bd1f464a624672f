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
  readonly clock: Clock;
  /** Runs a job to its end. Must not reject; its slot is free again when it resolves. */
  readonly run: (job_id: string) => Promise<void>;
}

/** First come, first served, `slots` at a time. */
export function createScheduler({ slots, clock, run }: SchedulerOptions): Scheduler {
  const queue = new Set<string>();
  let active = 0;
  let waiters: (() => void)[] = [];

  const settle = (): void => {
    if (active > 0 || queue.size > 0) return;
    for (const resolve of waiters) resolve();
    waiters = [];
  };

  const pump = (): void => {
    for (const job_id of queue) {
      if (active >= slots) return;
      queue.delete(job_id);
      active += 1;
      void run(job_id).then(() => {
        active -= 1;
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
