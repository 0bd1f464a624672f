import type { JobStatus } from "@imprint/contracts";
import type { Clock } from "../common/clock.js";
import type { Job } from "./job.js";
import type { JobPage, JobQuery } from "./jobs.js";
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
  readonly clock: Pick<Clock, "elapsed">;
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
      if (finished.size <= keepFinished && clock.elapsed() - ended <= keepFinishedMs) return;
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
      if (ended) finished.set(job.job_id, clock.elapsed());
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

/** One page of jobs that come newest first. The cursor is an id, so it stays good when its job is forgotten. */
export function pageOf(newestFirst: readonly Job[], { status, limit, after, prefix = "" }: JobQuery): JobPage {
  const matching = newestFirst.filter(
    (job) =>
      (status === undefined || job.status === status) &&
      (after === undefined || job.job_id < after) &&
      job.job_id.startsWith(prefix),
  );
  const jobs = matching.slice(0, limit);
  return { jobs, next: matching.length > limit ? (jobs.at(-1)?.job_id ?? null) : null };
}
