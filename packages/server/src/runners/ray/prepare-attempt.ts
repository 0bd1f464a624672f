import type { WorkerTask } from "@imprint/contracts";
import type { Clock } from "../../common/clock.js";
import { ImprintError, type Log } from "../../common/error.js";
import type { JobMemo } from "../runner.js";
import { type Attempt, keepJob, makeAttemptFolder, writeOrder } from "./attempt.js";
import type { JobsApi, Submission } from "./jobs-api.js";
import type { RayRunnerOptions } from "./options.js";
import { shipTask } from "./ship-task.js";
import { pause, storageError, whileUnreachable } from "./storage-error.js";

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

/**
 * All that the engine's shell ever reads of us, the same for every job: what differs comes as variables, and what users wrote in
 * files. `exec`: a stop of the engine's reaches the supervisor.
 */
const ENTRYPOINT = 'PYTHONPATH="$IMPRINT_SOURCES" PYTHONSAFEPATH=1 exec "$IMPRINT_PYTHON" -m imprint_node "$IMPRINT_ATTEMPT"';

/**
 * Where the nodes do not see the storage: the program in the variable (imprint_node/fetch.py, the same for every job too)
 * brings the sources and the attempt, and goes on as above.
 */
const FETCHING_ENTRYPOINT = 'PYTHONSAFEPATH=1 exec "$IMPRINT_PYTHON" -c "$IMPRINT_FETCH"';

interface SubmitOptions {
  readonly api: JobsApi;
  readonly submission: Submission;
  readonly signal: AbortSignal;
  readonly retryMs: number;
  readonly patienceMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Hands an attempt to the engine, once however often the answer is lost: the id is ours, and whoever has it already is adopted.
 * Resolves early where the signal aborts.
 * @throws ImprintError CLUSTER_REFUSED or CLUSTER_UNREACHABLE
 */
const submit = async (options: SubmitOptions): Promise<void> => {
  const { api, submission, signal, retryMs, patienceMs, clock, log } = options;
  const { submission_id } = submission;
  const begun = clock.elapsed();
  while (!signal.aborted) {
    const reply = await api.submit(submission);
    if (reply.type === "ok") return;
    if (reply.type === "exists") {
      log.info({ submission_id }, "the cluster has this job already: it is followed");
      return;
    }
    if (reply.type === "refused" || reply.type === "missing") {
      const why = reply.type === "refused" ? reply.why : "404: there is no Jobs API at this address";
      throw new ImprintError("CLUSTER_REFUSED", `The cluster refused the job (${why}).`);
    }
    log.warn({ submission_id, why: reply.why }, "the cluster did not take the job; it is asked again");
    if (clock.elapsed() - begun >= patienceMs)
      throw new ImprintError(
        "CLUSTER_UNREACHABLE",
        `The cluster did not take the job for ${patienceMs / 1000} seconds (${reply.why}).`,
      );
    await pause(clock, retryMs, signal);
  }
};
