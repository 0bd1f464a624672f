import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JobResult, Session } from "@imprint/contracts";
import type { WorkerTask } from "../executors/executor.js";
import { JobError } from "../jobs/job-error.js";
import type { Work } from "../jobs/work.js";
import type { DataPaths } from "../registry/paths.js";
import { type Lineage, publishAdapter } from "../registry/publish.js";
import type { Database } from "../registry/schema.js";
import { InvalidAdapterError } from "../registry/validate/invalid.js";
import type { Importer } from "../sessions/importer.js";
import { readSession } from "../sessions/read.js";
import { type BaseModels, locateBaseModel } from "./base-model.js";
import type { ResolvedHypernetwork, ResolvedLora } from "./resolve.js";

/** What the service lends to every job. */
export interface Workshop {
  readonly database: Database;
  readonly paths: DataPaths;
  readonly importer: Importer;
  readonly sessionLimit: number;
  readonly models: BaseModels;
  /** Folders whose sub-folders are hypernetworks: the data directory's, then the one that Imprint ships. */
  readonly hypernetworks: readonly string[];
  readonly now: () => Date;
}

/** A request with every value decided, and the method it asks for. */
export type Resolved =
  | { readonly kind: "lora"; readonly request: ResolvedLora }
  | { readonly kind: "hypernetwork"; readonly request: ResolvedHypernetwork };

const checkTrainable = ({ session_id, outcome, steps }: Session, includeUnsuccessful: boolean): void => {
  if (!steps.some((step) => step.source === "agent"))
    throw new JobError("NOTHING_TO_TRAIN", `The session ${session_id} holds nothing that an agent said.`);
  if (outcome === "failure" && !includeUnsuccessful)
    throw new JobError("SESSION_UNSUCCESSFUL", `The session ${session_id} did not succeed.`);
};

const toTask = ({ kind, request }: Resolved, jobId: string, staging: string, { models, hypernetworks }: Workshop): WorkerTask => {
  const { metadata: _kept, base_model, ...rest } = request;
  const { location, name } = locateBaseModel(base_model, models);
  const files = {
    session_path: join(staging, "session.json"),
    output_dir: join(staging, "adapter"),
    base_model: location,
    base_model_name: name,
  };
  return kind === "lora"
    ? { type: "train_lora", job_id: jobId, spec: { ...(rest as Omit<ResolvedLora, "metadata" | "base_model">), ...files } }
    : {
        type: "train_hypernetwork",
        job_id: jobId,
        spec: {
          ...(rest as Omit<ResolvedHypernetwork, "metadata" | "base_model">),
          ...files,
          hypernetworks_dirs: [...hypernetworks],
        },
      };
};

const asFailure = (error: unknown, adapterId: string): unknown => {
  if (error instanceof InvalidAdapterError)
    return new JobError("ADAPTER_INVALID", `The adapter was refused: ${error.message}.`, { cause: error });
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOTEMPTY" || code === "EEXIST")
    return new JobError("ADAPTER_ID_TAKEN", `A folder ${adapterId} stands in adapters already.`, { cause: error });
  return error;
};

/**
 * What a job does around its training. The session is copied into the job's staging folder first: what was checked is what is
 * trained, whatever happens to the stored file meanwhile.
 */
export const createWork = (resolved: Resolved, jobId: () => string, workshop: Workshop): Work => {
  const { request, kind } = resolved;
  const { paths, importer, sessionLimit, database, now } = workshop;
  const stagingOf = (id: string): string => join(paths.staging, id);

  return {
    prepare: async (signal) => {
      const staging = stagingOf(jobId());
      const { session } = await readSession({
        folder: paths.sessions,
        sessionId: request.session_id,
        importer,
        limit: sessionLimit,
      });
      checkTrainable(session, request.include_unsuccessful);
      const task = toTask(resolved, jobId(), staging, workshop);
      signal.throwIfAborted();
      try {
        await mkdir(task.spec.output_dir, { recursive: true, mode: 0o700 });
        await writeFile(task.spec.session_path, JSON.stringify(session), { mode: 0o600 });
      } catch (error) {
        await rm(staging, { recursive: true, force: true });
        throw error;
      }
      return task;
    },
    finish: async (task: WorkerTask, result: JobResult, signal: AbortSignal) => {
      const { adapter_id, task_type, session_id, metadata } = request;
      const lineage: Lineage = {
        adapter_id,
        method: kind,
        base_model: task.spec.base_model_name,
        task_type,
        session_id,
        job_id: task.job_id,
        metadata,
        created_at: now().toISOString(),
      };
      const beforeCommit = (): void => signal.throwIfAborted();
      try {
        await publishAdapter({ database, paths, folder: task.spec.output_dir, lineage, result, beforeCommit });
      } catch (error) {
        throw asFailure(error, adapter_id);
      }
    },
    discard: async (task) => rm(stagingOf(task.job_id), { recursive: true, force: true }),
  };
};
