import type { TaskResult, WorkerTask } from "../runners/runner.js";

/** What a job does around its training or export. The scheduler calls `prepare`, `finish` when the training is done, and `discard` in the end. */
export interface Work {
  /** The result where an earlier job made it already: then nothing is run. */
  existing?(): Promise<TaskResult | null>;
  /** Resolves the task of this job and makes its staging folder. Rejects with ImprintError, after removing what it made. */
  prepare(signal: AbortSignal, job_id: string): Promise<WorkerTask>;
  /**
   * Validates the files and registers what was made: resolves if and only if it is registered. `signal` aborts when
   * the job is cancelled or times out; look at it right before the commit, and reject when it is aborted.
   */
  finish(task: WorkerTask, result: TaskResult, signal: AbortSignal): Promise<void>;
  /** Removes the staging folder of a prepared task, however it ended. A rejection is logged and changes no outcome. */
  discard(task: WorkerTask): Promise<void>;
}
