import type { JobStatus } from "@imprint/contracts";
import type { Clock } from "../common/clock.js";
import type { Job } from "./job.js";
import { isTerminal } from "./status.js";

export interface JobStore {
  /** Adds a job or replaces it by its next version. */
  put(job: Job): void;
  get(job_id: string): Job | undefined;
  /** Newest first. */
  newestFirst(): Job[];
  isReserved(adapter_id: string): boolean;
  counts(): Record<JobStatus, number>;
}

interface StoreOptions {
  readonly clock: Pick<Clock, "now">;
  readonly keepFinished: number;
  readonly keepFinishedMs: number;
  /** A finished job is gone: forget what else is kept of it. */
  readonly onForget: (job_id: string) => void;
}

/** Every job that is queued or running, and the finished ones that count and age allow. */
export function createStore({ clock, keepFinished, keepFinishedMs, onForget }: StoreOptions): JobStore {
  const jobs = new Map<string, Job>(); // in the order of submission, which is the order of the ids
  const reserved = new Set<string>();
  const finished = new Map<string, number>(); // id -> when it ended, in that order

  const forgetOld = (): void => {
    for (const [id, ended] of finished) {
      if (finished.size <= keepFinished && clock.now() - ended <= keepFinishedMs) return;
      finished.delete(id);
      jobs.delete(id);
      onForget(id);
    }
  };

  return {
    put(job) {
      jobs.set(job.job_id, job);
      const ended = isTerminal(job.status);
      if (job.reserved_adapter_id !== null) {
        if (ended) reserved.delete(job.reserved_adapter_id);
        else reserved.add(job.reserved_adapter_id);
      }
      if (ended) finished.set(job.job_id, clock.now());
      forgetOld();
    },
    get(job_id) {
      forgetOld();
      return jobs.get(job_id);
    },
    newestFirst() {
      forgetOld();
      return [...jobs.values()].reverse();
    },
    isReserved: (adapter_id) => reserved.has(adapter_id),
    counts() {
      forgetOld();
      const counts = { queued: 0, running: 0, completed: 0, failed: 0, cancelled: 0 };
      for (const { status } of jobs.values()) counts[status] += 1;
      return counts;
    },
  };
}
