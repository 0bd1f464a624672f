import type { JobKind, JobStatus } from "@imprint/contracts";
import type { Clock } from "../common/clock.js";
import type { Log } from "../common/error.js";
import type { LeftJob, Runner } from "../runners/runner.js";
import type { Job, JobRequest } from "./job.js";
import type { Kind } from "./kind.js";

export interface JobLimits {
  /** Jobs that run at once. */
  readonly slots: number;
  /** Jobs that may wait. */
  readonly maxQueued: number;
  /** Finished jobs that are remembered: at most so many, ... */
  readonly keepFinished: number;
  /** ... and none that finished longer ago. */
  readonly keepFinishedMs: number;
  /** Longest time from start to end of one job. */
  readonly maxJobMs: number;
}

export interface Submission {
  readonly kind: JobKind;
  readonly request: JobRequest;
  readonly warnings?: readonly string[];
}

export interface JobQuery {
  readonly status?: JobStatus | undefined;
  readonly limit: number;
  /** Continue after this job: the `next` of the page before. */
  readonly after?: string | undefined;
  /** What the id begins with. */
  readonly prefix?: string | undefined;
}

export interface JobPage {
  readonly jobs: readonly Job[];
  readonly next: string | null;
}

export interface Jobs {
  /** Queues a job and returns at once; answers the one that makes the same already, if there is one. Throws ImprintError QUEUE_FULL, ADAPTER_ID_TAKEN or SHUTTING_DOWN. */
  submit(submission: Submission): Job;
  /** Queues a job again that its runner kept over a restart, under its old id. Null where its adapter is another job's by now. */
  adopt(left: LeftJob): Job | null;
  get(job_id: string): Job | undefined;
  /** Newest first. */
  list(query: JobQuery): JobPage;
  /** Asks for the end of a job; twice is fine. Throws ImprintError JOB_NOT_FOUND or JOB_FINISHED. */
  cancel(job_id: string): Job;
  /** Whether a queued or running job holds this adapter id. */
  isReserved(adapter_id: string): boolean;
  /** 1 for the next job to start; null for one that does not wait. */
  queuePosition(job_id: string): number | null;
  /** Tells every change of every job, in order. The answer ends it. */
  subscribe(listener: (job: Job) => void): () => void;
  /** Tells new log text as it comes. The answer ends it. */
  subscribeToLog(listener: (job_id: string, text: string) => void): () => void;
  /** The last lines that the job's trainer logged. */
  log(job_id: string): string;
  counts(): Readonly<Record<JobStatus, number>>;
  /**
   * Takes no more jobs, fails those that wait with SHUTTING_DOWN and keeps what they were asked, gives those that run `graceMs` to end, then stops them.
   * Resolves when none is left. May be called again with less grace. The runner is closed by its owner, afterwards.
   */
  close(graceMs: number): Promise<void>;
}

export interface JobsOptions {
  /** Keeps what jobs were asked that a stop leaves unstarted. */
  readonly keepUnstarted?: (jobs: readonly Job[]) => Promise<void>;
  readonly kinds: Readonly<Record<JobKind, Kind>>;
  readonly runner: Pick<Runner, "start" | "adopt" | "release">;
  readonly clock: Clock;
  /** Ids that grow: see ids.ts. */
  readonly newId: () => string;
  readonly limits: JobLimits;
  readonly log: Log;
}
