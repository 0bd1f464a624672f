import type { JobResult } from "@imprint/contracts";
import type { WorkerTask } from "../executors/executor.js";

/** What a job does around its training. The scheduler calls `prepare`, `finish` when the training is done, and `discard` in the end. */
export interface Work {
  /** Resolves the task of this job and makes its staging folder. Rejects with JobError, after removing what it made. */
  prepare(signal: AbortSignal, job_id: string): Promise<WorkerTask>;
  /**
   * Validates the files and registers the adapter: resolves if and only if the adapter is registered. `signal` aborts when
   * the job is cancelled or times out; look at it right before the commit, and reject when it is aborted.
   */
  finish(task: WorkerTask, result: JobResult, signal: AbortSignal): Promise<void>;
  /** Removes the staging folder of a prepared task, however it ended. A rejection is logged and changes no outcome. */
  discard(task: WorkerTask): Promise<void>;
}
