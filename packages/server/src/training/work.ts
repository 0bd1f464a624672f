import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { CheckpointSpec, JobResult, SessionSummary } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import type { Job } from "../jobs/job.js";
import type { Work } from "../jobs/work.js";
import { HarmfulAdapterError } from "../registry/harm.js";
import { type Lineage, publishAdapter } from "../registry/publish.js";
import { InvalidAdapterError } from "../registry/validate/invalid.js";
import type { WorkerTask } from "../runners/runner.js";
import type { Staged } from "../sessions/stage.js";
import type { SessionStore } from "../sessions/store.js";
import type { DataPaths } from "../storage/paths.js";
import type { Database, Transaction } from "../storage/schema.js";
import { type BaseModels, locateBaseModel } from "./base-model.js";
import { checkpointFolder, hasCheckpoint, makeCheckpointFolder } from "./checkpoints/folder.js";
import type { ResolvedHypernetwork, ResolvedLora } from "./resolve.js";
import { recordSpeed } from "./speeds.js";

/** What the service lends to every job. */
export interface Workshop {
  readonly database: Database;
  readonly paths: DataPaths;
  readonly sessions: SessionStore;
  readonly models: BaseModels;
  /** Between two checkpoints of a training. */
  readonly checkpointSeconds: number;
  /** Folders whose sub-folders are hypernetworks: the data directory's, then the one that Imprint ships. */
  readonly hypernetworks: readonly string[];
  readonly now: () => Date;
}

/** The job whose checkpoint a LoRA job begins with: to train on, or to make an adapter of it. */
export interface Origin {
  readonly as: "resume" | "salvage";
  readonly job_id: string;
}

/** A request with every value decided, and the method it asks for. */
export type Resolved =
  | { readonly kind: "lora"; readonly request: ResolvedLora; readonly origin: Origin | null }
  | { readonly kind: "hypernetwork"; readonly request: ResolvedHypernetwork };

const checkTrainable = ({ session_id, outcome, assistant_turns }: SessionSummary, includeUnsuccessful: boolean): void => {
  if (assistant_turns === 0)
    throw new ImprintError("NOTHING_TO_TRAIN", `The session ${session_id} holds nothing that an agent said.`);
  if (outcome === "failure" && !includeUnsuccessful)
    throw new ImprintError("SESSION_UNSUCCESSFUL", `The session ${session_id} did not succeed.`);
};

interface Places {
  readonly jobId: string;
  readonly staging: string;
  readonly staged: Staged;
}

const checkpointSpec = async (
  { request, origin }: Extract<Resolved, { kind: "lora" }>,
  jobId: string,
  { paths, checkpointSeconds: seconds }: Workshop,
): Promise<CheckpointSpec> => {
  const start = origin?.as ?? "fresh";
  if (origin?.as === "salvage") return { dir: checkpointFolder(paths, origin.job_id), seconds, start };
  return { dir: await makeCheckpointFolder(paths, { jobId, request, resumeFrom: origin?.job_id ?? null }), seconds, start };
};

const toTask = async (resolved: Resolved, { jobId, staging, staged }: Places, workshop: Workshop): Promise<WorkerTask> => {
  const { kind, request } = resolved;
  const { models, hypernetworks } = workshop;
  const { location, name } = locateBaseModel(request.base_model, models);
  const files = { output_dir: join(staging, "adapter"), base_model: location, base_model_name: name };
  if (kind === "lora") {
    const { metadata: _kept, keep_harmful: _rule, session_id: _first, ...rest } = request;
    const checkpoint = await checkpointSpec(resolved, jobId, workshop);
    return { type: "train_lora", job_id: jobId, spec: { ...rest, ...files, ...staged, checkpoint } };
  }
  const { metadata: _kept, keep_harmful: _rule, session_ids: _only, ...rest } = request;
  const [session_path] = staged.session_paths;
  return {
    type: "train_hypernetwork",
    job_id: jobId,
    spec: { ...rest, ...files, session_path, hypernetworks_dirs: [...hypernetworks] },
  };
};

const asFailure = (error: unknown, adapterId: string): unknown => {
  if (error instanceof HarmfulAdapterError) {
    const { message, proof } = error;
    return new ImprintError("ADAPTER_HARMS", `${message} Set keep_harmful to register it all the same.`, { proof, cause: error });
  }
  if (error instanceof InvalidAdapterError)
    return new ImprintError("ADAPTER_INVALID", `The adapter was refused: ${error.message}.`, { cause: error });
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOTEMPTY" || code === "EEXIST")
    return new ImprintError("ADAPTER_ID_TAKEN", `A folder ${adapterId} stands in adapters already.`, { cause: error });
  return error;
};

/** What a job does around its training. */
export const createWork = (
  resolved: Resolved,
  { jobId, job }: { readonly jobId: () => string; readonly job: () => Pick<Job, "plan" | "progress"> | null },
  workshop: Workshop,
): Work => {
  const { request, kind } = resolved;
  const { paths, sessions, database, now } = workshop;
  const stagingOf = (id: string): string => join(paths.staging, id);
  const salvages = kind === "lora" && resolved.origin?.as === "salvage";
  let registered = false;
  /** A checkpoint outlives every job but one that made its adapter. */
  const tidy = async (id: string): Promise<void> => {
    await rm(stagingOf(id), { recursive: true, force: true });
    const own = checkpointFolder(paths, id);
    if (registered || !hasCheckpoint(own)) await rm(own, { recursive: true, force: true });
  };

  return {
    prepare: async (signal) => {
      const staging = stagingOf(jobId());
      const skipInvalid = kind === "lora" && request.skip_invalid;
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
        const task = await toTask(resolved, { jobId: jobId(), staging, staged }, workshop);
        await mkdir(task.spec.output_dir, { mode: 0o700 });
        return task;
      } catch (error) {
        await tidy(jobId());
        throw error;
      }
    },
    finish: async (task: WorkerTask, result: JobResult, signal: AbortSignal) => {
      if (salvages !== (result.partial !== undefined))
        throw new ImprintError("WORKER_PROTOCOL", "The trainer and the service disagree on whether the adapter is partial.");
      const { adapter_id, task_type, metadata, keep_harmful: keepHarmful } = request;
      const { plan = null, progress = null } = job() ?? {};
      const skipped = new Set(plan?.skipped.map(({ session_id }) => session_id));
      const session_ids = request.session_ids.filter((id) => !skipped.has(id));
      const lineage: Lineage = {
        adapter_id,
        method: kind,
        base_model: task.spec.base_model_name,
        task_type,
        session_id: session_ids[0] ?? request.session_id,
        session_ids,
        job_id: task.job_id,
        metadata,
        created_at: now().toISOString(),
      };
      const beforeCommit = async (db: Transaction): Promise<void> => {
        const { tokens_per_second } = progress ?? { tokens_per_second: 0 };
        if (kind === "lora" && tokens_per_second > 0)
          await recordSpeed(db, { base_model: request.base_model, quantization: request.quantization, tokens_per_second });
        signal.throwIfAborted();
      };
      try {
        await publishAdapter({ database, paths, folder: task.spec.output_dir, lineage, result, keepHarmful, beforeCommit });
      } catch (error) {
        throw asFailure(error, adapter_id);
      }
      registered = true;
    },
    discard: ({ job_id }) => tidy(job_id),
  };
};
