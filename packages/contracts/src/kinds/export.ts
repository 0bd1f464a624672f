import { type Static, Type } from "typebox";
import { ExportFormat } from "../exports.js";
import { AdapterFile, AdapterId, JobId } from "../ids.js";
import { Strict } from "../object.js";

/** A registered adapter in another program's format. */
export const ExportSpec = Strict({
  adapter_id: AdapterId,
  adapter_path: Type.String(),
  base_model: Type.String(),
  base_model_name: Type.String(),
  format: ExportFormat,
  output_dir: Type.String(),
});
export type ExportSpec = Static<typeof ExportSpec>;

export const ExportTask = Strict({ type: Type.Literal("export"), job_id: JobId, spec: ExportSpec });
export type ExportTask = Static<typeof ExportTask>;

/** What a finished export hands over: it proves nothing. */
export const ExportResult = Strict({ files: Type.Array(AdapterFile), warnings: Type.Array(Type.String()) });
export type ExportResult = Static<typeof ExportResult>;

/** What the details of a finished export show. */
export const ExportedFiles = Strict({ files: Type.Array(AdapterFile) });
export type ExportedFiles = Static<typeof ExportedFiles>;
