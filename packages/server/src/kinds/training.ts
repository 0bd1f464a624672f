import { mkdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { AdapterMethod, JobResult, SessionSummary } from "@imprint/contracts";
import { codeOf, ImprintError } from "../common/error.js";
import type { Job, JobRequest } from "../jobs/job.js";
import type { FinishedRun, Made } from "../jobs/kind.js";
import { locateBaseModel } from "../models/base-model.js";
import { HarmfulAdapterError, type Lineage, publishAdapter } from "../registry/publish.js";
import { InvalidAdapterError } from "../registry/validate/invalid.js";
import { reference } from "../runners/reference.js";
import type { Staged } from "../sessions/stage.js";
import type { DataPaths } from "../storage/paths.js";
import type { Transaction } from "../storage/schema.js";
import type { KindDeps } from "./deps.js";
import type { resolveCommon } from "./resolve.js";

/** What every request for an adapter says. */
export type TrainingRequest = JobRequest & ReturnType<typeof resolveCommon>;

interface TrainingTask {
  readonly job_id: string;
  readonly spec: { readonly base_model_name: string };
}

const checkTrainable = ({ session_id, outcome, assistant_turns }: SessionSummary, includeUnsuccessful: boolean): void => {
  if (assistant_turns === 0)
    throw new ImprintError("NOTHING_TO_TRAIN", `The session ${session_id} holds nothing that an agent said.`);
  if (outcome === "failure" && !includeUnsuccessful)
    throw new ImprintError("SESSION_UNSUCCESSFUL", `The session ${session_id} did not succeed.`);
};

export const stagingOf = ({ staging }: DataPaths, { job_id }: Pick<Job, "job_id">): string => join(staging, job_id);

export const removeStaging = (paths: DataPaths, job: Pick<Job, "job_id">): Promise<void> =>
  rm(stagingOf(paths, job), { recursive: true, force: true });

export interface StagedTraining {
  readonly staged: Staged;
  readonly files: { readonly output_dir: string; readonly base_model: string; readonly base_model_name: string };
}

const OUTPUT = "adapter";

const filesOf = ({ job_id }: Pick<Job, "job_id">, base_model_name: string): StagedTraining["files"] => ({
  output_dir: reference("staging", `${job_id}/${OUTPUT}`),
  base_model: reference("models", base_model_name),
  base_model_name,
});

const referring = ({ session_paths: [first, ...others], ...rest }: Staged, { job_id }: Pick<Job, "job_id">): Staged => {
  const refer = (path: string): string => reference("staging", `${job_id}/${basename(path)}`);
  return { ...rest, session_paths: [refer(first), ...others.map(refer)] };
};

/** Copies the sessions of a training and makes the folder of its adapter. Leaves no folder behind when it rejects. */
export const prepareTraining = async <Request extends TrainingRequest, Task>(
  job: Job<Request>,
  {
    skipInvalid,
    signal,
    toTask,
  }: {
    readonly skipInvalid: boolean;
    readonly signal: AbortSignal;
    readonly toTask: (staged: StagedTraining) => Task | Promise<Task>;
  },
  { paths, sessions, models }: KindDeps,
): Promise<Task> => {
  const { request } = job;
  const staging = stagingOf(paths, job);
  const staged = await sessions.stage({
    sessionIds: request.session_ids,
    folder: staging,
    skipInvalid,
    check: (session) => {
      signal.throwIfAborted();
      if (!skipInvalid) checkTrainable(session, request.include_unsuccessful);
    },
  });
  try {
    const { name } = locateBaseModel(request.base_model, models);
    const task = await toTask({ staged: referring(staged, job), files: filesOf(job, name) });
    await mkdir(join(staging, OUTPUT), { mode: 0o700 });
    return task;
  } catch (error) {
    await removeStaging(paths, job);
    throw error;
  }
};

const asFailure = (error: unknown, adapterId: string): unknown => {
  if (error instanceof HarmfulAdapterError) {
    const { message, proof } = error;
    return new ImprintError("ADAPTER_HARMS", `${message} Set keep_harmful to register it all the same.`, { proof, cause: error });
  }
  if (error instanceof InvalidAdapterError)
    return new ImprintError("ADAPTER_INVALID", `The adapter was refused: ${error.message}.`, { cause: error });
  const code = codeOf(error);
  if (code === "ENOTEMPTY" || code === "EEXIST")
    return new ImprintError("ADAPTER_ID_TAKEN", `A folder ${adapterId} stands in adapters already.`, { cause: error });
  return error;
};

/** Validates the files of a training and registers its adapter. `beforeCommit` stands in the transaction that does. */
export const registerTraining = async (
  { job, task, result, signal }: FinishedRun<TrainingRequest, TrainingTask, JobResult>,
  { method, beforeCommit }: { readonly method: AdapterMethod; readonly beforeCommit?: (db: Transaction) => Promise<void> },
  { database, paths, now }: KindDeps,
): Promise<void> => {
  const { job_id, request, plan } = job;
  const { adapter_id, task_type, metadata, keep_harmful: keepHarmful } = request;
  const skipped = new Set(plan?.skipped.map(({ session_id }) => session_id));
  const session_ids = request.session_ids.filter((id) => !skipped.has(id));
  const lineage: Lineage = {
    adapter_id,
    method,
    base_model: task.spec.base_model_name,
    task_type,
    session_id: session_ids[0] ?? request.session_id,
    session_ids,
    job_id,
    metadata,
    created_at: now().toISOString(),
  };
  const commit = async (db: Transaction): Promise<void> => {
    await beforeCommit?.(db);
    signal.throwIfAborted();
  };
  try {
    await publishAdapter({
      database,
      paths,
      folder: join(stagingOf(paths, job), OUTPUT),
      lineage,
      result,
      keepHarmful,
      beforeCommit: commit,
    });
  } catch (error) {
    throw asFailure(error, adapter_id);
  }
};

/** A training shows its adapter and the proof of it. */
export const showsTraining = ({ adapter_id }: TrainingRequest, { proof }: JobResult): Made => ({
  adapter_id,
  proof,
  result: null,
});
