import type { WorkerTask } from "@imprint/contracts";
import type { JobMemo } from "../runner.js";
import { type Attempt, makeAttemptFolder, writeOrder } from "./attempt.js";
import { ENTRYPOINT, FETCHING_ENTRYPOINT } from "./entrypoint.js";
import { keepJob } from "./memo.js";
import type { RayRunnerOptions } from "./options.js";
import { shipTask } from "./ship-task.js";
import { storageError, whileUnreachable } from "./storage-error.js";
import { submit } from "./submit.js";

interface PrepareOptions {
  /** A new one. */
  readonly attempt: Attempt;
  readonly task: WorkerTask;
  readonly memo: JobMemo | null;
  readonly signal: AbortSignal;
}

/** Puts all that an attempt reads on the shared storage, until the engine says that it has it. Rejects with ImprintError. */
export const prepareAttempt = async (
  { attempt, task, memo, signal }: PrepareOptions,
  options: RayRunnerOptions,
): Promise<WorkerTask> => {
  const { api, storage, places, clock, log } = options;
  const { store, onNodes } = storage;
  const { job_id } = task;
  const { folder, submission_id, token } = attempt;
  const { cpus, gpus, memory } = await options.resources(task, signal);
  const put = async (): Promise<{ readonly there: WorkerTask; readonly sources: string }> => {
    await makeAttemptFolder(store, attempt);
    const shipped = await shipTask({ task, places, storage, folder });
    const sources = await options.sources();
    const needs = sources.name === null ? shipped.needs : [...shipped.needs, sources.name];
    await writeOrder(store, attempt, {
      command: options.command,
      env: options.env,
      graceMs: options.cancelGraceMs,
      startMs: options.startTimeoutMs,
      carry: store.carried && { needs, pollMs: options.pollMs, patienceMs: options.limits.patienceMs },
    });
    await keepJob(storage, { job_id, task, there: shipped.task, memo, token });
    return { there: shipped.task, sources: sources.onNodes };
  };
  const { there, sources } = await whileUnreachable(put, { ...options, signal }).catch((error: unknown) => {
    throw storageError(error);
  });
  signal.throwIfAborted();
  await submit({
    api,
    submission: {
      submission_id,
      entrypoint: store.carried === null ? ENTRYPOINT : FETCHING_ENTRYPOINT,
      runtime_env: {
        env_vars: {
          IMPRINT_PYTHON: options.python,
          IMPRINT_SOURCES: sources,
          IMPRINT_ATTEMPT: onNodes(folder),
          ...(store.carried && { ...store.carried, IMPRINT_PATIENCE: String(options.limits.patienceMs / 1000) }),
        },
      },
      metadata: { imprint_instance: storage.instance, imprint_job: job_id },
      entrypoint_num_cpus: cpus,
      ...(gpus > 0 && { entrypoint_num_gpus: gpus }),
      ...(memory !== null && { entrypoint_memory: memory }),
    },
    signal,
    retryMs: options.askMs,
    patienceMs: options.limits.patienceMs,
    clock,
    log,
  });
  return there;
};
