import { asImprintError, ImprintError } from "../common/error.js";
import type { Log } from "../common/log.js";
import type { Executor, Outcome, TaskEvent, TaskResult, WorkerTask } from "../runners/runner.js";
import type { Work } from "./work.js";

/** How a job ended; `failed` also when it was stopped, since the caller knows why it stopped it. */
export type JobEnd =
  | { readonly type: "completed"; readonly result: TaskResult }
  | { readonly type: "failed"; readonly error: ImprintError };

interface RunOptions {
  readonly job_id: string;
  readonly work: Work;
  readonly executor: Executor;
  /** Aborts when the job has to stop: cancelled, too long, shutdown. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: TaskEvent) => void;
  /** The training is over; its files are about to be validated and registered. */
  readonly onRegistering: () => void;
  readonly log: Log;
}

/** One job from start to end. Never rejects. What was staged is gone when it resolves, unless it could not be removed. */
export async function runJob({ job_id, work, executor, signal, onEvent, onRegistering, log }: RunOptions): Promise<JobEnd> {
  let task: WorkerTask | undefined;
  try {
    const existing = await work.existing?.();
    if (existing) return { type: "completed", result: existing };
    task = await work.prepare(signal, job_id);
    signal.throwIfAborted();
    const result = resultOf(await train({ task, executor, signal, onEvent }));
    signal.throwIfAborted();
    onRegistering();
    await work.finish(task, result, signal);
    return { type: "completed", result };
  } catch (thrown) {
    const error = asImprintError(thrown);
    if (error.code === "INTERNAL_ERROR" && !signal.aborted) log.error({ err: thrown, job_id }, "a job failed inside the service");
    return { type: "failed", error };
  } finally {
    if (task) await discard({ work, task, log });
  }
}

interface TrainOptions extends Pick<RunOptions, "executor" | "signal" | "onEvent"> {
  readonly task: WorkerTask;
}

async function train({ task, executor, signal, onEvent }: TrainOptions): Promise<Outcome> {
  const handle = executor.start(task, onEvent);
  const cancel = (): void => handle.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await handle.outcome;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

function resultOf(outcome: Outcome): TaskResult {
  if (outcome.type === "done") return outcome.result;
  if (outcome.type === "failed") throw ImprintError.from(outcome.error);
  throw new ImprintError("TRAINER_ERROR", "The training was cancelled.");
}

async function discard({ work, task, log }: Pick<RunOptions, "work" | "log"> & { readonly task: WorkerTask }): Promise<void> {
  try {
    await work.discard(task);
  } catch (err) {
    log.error({ err, job_id: task.job_id }, "a staging folder could not be removed; the next start sweeps it");
  }
}
