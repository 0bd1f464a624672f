import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ExportFormat, ExportResult } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import type { Work } from "../jobs/work.js";
import { type AdapterRow, findAdapter } from "../registry/adapters.js";
import { requireWhole } from "../registry/health.js";
import { InvalidAdapterError } from "../registry/validate/invalid.js";
import type { WorkerTask } from "../runners/runner.js";
import { inTransaction } from "../storage/transaction.js";
import { locateBaseModel } from "../training/base-model.js";
import type { Workshop } from "../training/work.js";
import { findExport, publishExport } from "./store.js";

type Lent = Pick<Workshop, "database" | "paths" | "models" | "now">;

/** What a job does around the export of a registered adapter. */
export const createExportWork = (
  { adapterId, format }: { readonly adapterId: string; readonly format: ExportFormat },
  { database, paths, models, now }: Lent,
): Work => {
  const stagingOf = (jobId: string): string => join(paths.staging, jobId);

  /** Asked again at every step: it may have been archived while the job waited or ran. */
  const adapter = async (): Promise<AdapterRow> => {
    const found = await inTransaction(database, (session) => findAdapter(session, adapterId));
    if (!found) throw new ImprintError("ADAPTER_NOT_FOUND", `There is no adapter ${adapterId} any more.`);
    return found;
  };

  return {
    existing: async () => {
      const there = await findExport(paths, await adapter(), format);
      return there && { files: there.files, warnings: [] };
    },
    prepare: async (_signal, job_id): Promise<WorkerTask> => {
      const row = await adapter();
      const adapter_path = await requireWhole(paths, row);
      const { location, name } = locateBaseModel(row.base_model, models);
      const output_dir = join(stagingOf(job_id), "export");
      await mkdir(output_dir, { recursive: true, mode: 0o700 });
      return {
        type: "export",
        job_id,
        spec: {
          adapter_id: adapterId,
          adapter_path,
          base_model: location,
          base_model_name: name,
          format,
          output_dir,
        },
      };
    },
    finish: async (task: WorkerTask, result: ExportResult, signal: AbortSignal) => {
      const row = await adapter();
      signal.throwIfAborted();
      try {
        const folder = task.spec.output_dir;
        await publishExport({ paths, adapter: row, format, folder, result, at: now().toISOString() });
      } catch (error) {
        if (!(error instanceof InvalidAdapterError)) throw error;
        throw new ImprintError("TRAINER_ERROR", `The export was refused: ${error.message}.`, { cause: error });
      }
    },
    discard: (task) => rm(stagingOf(task.job_id), { recursive: true, force: true }),
  };
};
