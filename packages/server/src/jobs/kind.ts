import type { Runner, TaskEvent } from "../runners/runner.js";
import type { Job, JobRequest } from "./job.js";

export interface RunContext {
  readonly runner: Pick<Runner, "start">;
  /** Aborts when the job has to stop: cancelled, too long, shutdown. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: TaskEvent) => void;
}

/** What a completed job's record shows. */
export type Made = Pick<Job, "adapter_id" | "proof" | "result">;

/**
 * A kind of job: what jobs do that is not the same for all. A job is prepared, run, finished and discarded, in this order; each
 * step gets the job as it is then.
 */
export interface Kind<
  Request extends JobRequest = JobRequest,
  Task = unknown,
  Result extends { readonly warnings: readonly string[] } = { readonly warnings: readonly string[] },
> {
  /** Id of the adapter that such a job will make, null for none: nobody else may take it while the job is queued or running. */
  reserves(request: Request): string | null;
  /** Such jobs wait for one another alone, and never for a training. */
  readonly isBeside?: boolean;
  /** What such a job makes that two jobs must not make at once: who asks for it meanwhile gets the job that is under way. */
  makes?(request: Request): string;
  /** The result where an earlier job made it already: then nothing is run. */
  existing?(job: Job<Request>): Promise<Result | null>;
  /** Resolves what is to be run, and makes the job's staging folder. Rejects with ImprintError, after removing what it made. */
  prepare(job: Job<Request>, signal: AbortSignal): Promise<Task>;
  /** Rejects with ImprintError; soon, where the signal aborts. `onRunner` for a task of a trainer. */
  run(task: Task, context: RunContext): Promise<Result>;
  /**
   * Validates the files and registers what was made: resolves if and only if it is registered. `signal` aborts when
   * the job is cancelled or times out; look at it right before the commit, and reject when it is aborted.
   */
  finish(done: FinishedRun<Request, Task, Result>): Promise<void>;
  /** Removes the staging folder of a prepared job, however it ended. A rejection is logged and changes no outcome. */
  discard(job: Job<Request>, end: { readonly registered: boolean }): Promise<void>;
  shows(request: Request, result: Result): Made;
}

export interface FinishedRun<Request extends JobRequest, Task, Result> {
  readonly job: Job<Request>;
  readonly task: Task;
  readonly result: Result;
  readonly signal: AbortSignal;
}
