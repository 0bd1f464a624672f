import type { WorkerTask } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";
import type { JobMemo } from "../runner.js";
import { type Attempt, attemptOf, makeAttemptFolder, newToken, writeOrder } from "./attempt.js";
import { ENTRYPOINT } from "./entrypoint.js";
import { keepJob } from "./memo.js";
import type { RayRunnerOptions } from "./options.js";
import { shipTask } from "./ship-task.js";
import { submit } from "./submit.js";

const FULL = ["ENOSPC", "EDQUOT", "EFBIG"];

/** What the shared storage says, as the job's failure. */
export const storageError = (error: unknown): unknown => {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (FULL.includes(code))
    return new ImprintError("DISK_FULL", `The shared storage is full (${code}).`, {
      hint: "Free space on the shared storage, and try again.",
      cause: error,
    });
  if (/^E[A-Z]+$/.test(code))
    return new ImprintError("STORAGE_FAILED", `The shared storage cannot be used (${code}).`, { cause: error });
  return error;
};

interface PrepareOptions {
  readonly task: WorkerTask;
  readonly memo: JobMemo | null;
  readonly signal: AbortSignal;
}

/** An attempt with all that it reads on the shared storage, and the engine's word that it has it. Rejects with ImprintError. */
export const prepareAttempt = async (
  { task, memo, signal }: PrepareOptions,
  options: RayRunnerOptions,
): Promise<{ readonly attempt: Attempt; readonly task: WorkerTask }> => {
  const { api, storage, places, clock, log } = options;
  const { job_id } = task;
  const attempt = attemptOf({ storage, job_id, token: newToken() });
  const { folder, submission_id, token } = attempt;
  const { cpus, gpus, memory, args = [] } = await options.resources(task, signal);
  const put = async (): Promise<{ readonly there: WorkerTask; readonly sources: string }> => {
    await makeAttemptFolder(attempt);
    const [there, sources] = [await shipTask({ task, places, storage, folder }), await options.sources()];
    await writeOrder(attempt, {
      command: [...options.command, ...args],
      env: options.env,
      graceMs: options.cancelGraceMs,
      startMs: options.startTimeoutMs,
    });
    await keepJob(storage, { job_id, task, there, memo, token });
    return { there, sources };
  };
  const { there, sources } = await put().catch((error: unknown) => {
    throw storageError(error);
  });
  signal.throwIfAborted();
  await submit({
    api,
    submission: {
      submission_id,
      entrypoint: ENTRYPOINT,
      runtime_env: { env_vars: { IMPRINT_PYTHON: options.python, IMPRINT_SOURCES: sources, IMPRINT_ATTEMPT: folder } },
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
  return { attempt, task: there };
};
