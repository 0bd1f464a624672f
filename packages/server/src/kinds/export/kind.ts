import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { ExportFormat, ExportResult, ExportTask } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";
import type { Kind } from "../../jobs/kind.js";
import { onRunner } from "../../jobs/on-runner.js";
import { locateBaseModel } from "../../models/base-model.js";
import { type AdapterRow, findAdapter } from "../../registry/adapters.js";
import { requireWhole } from "../../registry/health.js";
import { InvalidAdapterError } from "../../registry/validate/invalid.js";
import { reference } from "../../runners/reference.js";
import { inTransaction } from "../../storage/transaction.js";
import type { KindDeps } from "../deps.js";
import { removeStaging, stagingOf } from "../training.js";
import { findExport, publishExport } from "./store.js";

const OUTPUT = "export";

type ExportJobRequest = { readonly adapter_id: string; readonly format: ExportFormat; readonly base_model: string };

/** The export of a registered adapter. */
export const createExport = ({
  database,
  paths,
  models,
  now,
}: Pick<KindDeps, "database" | "paths" | "models" | "now">): Kind<ExportJobRequest, ExportTask, ExportResult> => {
  /** Asked again at every step: it may have been archived while the job waited or ran. */
  const adapterOf = async ({ adapter_id }: ExportJobRequest): Promise<AdapterRow> => {
    const found = await inTransaction(database, (session) => findAdapter(session, adapter_id));
    if (!found) throw new ImprintError("ADAPTER_NOT_FOUND", `There is no adapter ${adapter_id} any more.`);
    return found;
  };

  return {
    reserves: () => null, // its adapter is registered already
    isBeside: true,
    makes: ({ adapter_id, format }) => `${adapter_id} as ${format}`,
    existing: async ({ request }) => {
      const there = await findExport(paths, await adapterOf(request), request.format);
      return there && { files: there.files, warnings: [] };
    },
    prepare: async (job) => {
      const { adapter_id, format } = job.request;
      const adapter = await adapterOf(job.request);
      await requireWhole({ database, paths }, adapter);
      const { name } = locateBaseModel(adapter.base_model, models);
      await mkdir(join(stagingOf(paths, job), OUTPUT), { recursive: true, mode: 0o700 });
      return {
        type: "export",
        job_id: job.job_id,
        spec: {
          adapter_id,
          adapter_path: reference("adapters", adapter_id),
          base_model: reference("models", name),
          base_model_name: name,
          format,
          output_dir: reference("staging", `${job.job_id}/${OUTPUT}`),
        },
      };
    },
    run: onRunner,
    finish: async ({ job, result, signal }) => {
      const adapter = await adapterOf(job.request);
      signal.throwIfAborted();
      try {
        const { format } = job.request;
        const folder = join(stagingOf(paths, job), OUTPUT);
        await publishExport({ paths, adapter, format, folder, result, at: now().toISOString() });
      } catch (error) {
        if (!(error instanceof InvalidAdapterError)) throw error;
        throw new ImprintError("TRAINER_ERROR", `The export was refused: ${error.message}.`, { cause: error });
      }
    },
    discard: (job) => removeStaging(paths, job),
    shows: ({ adapter_id }, { files }) => ({ adapter_id, proof: null, result: { files } }),
  };
};
