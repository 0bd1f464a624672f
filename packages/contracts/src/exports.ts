import { type Static, Type } from "typebox";
import { AdapterFile, AdapterId, Sha256, Timestamp } from "./ids.js";
import { Strict } from "./object.js";

/** `gguf`: a LoRA file for llama.cpp; `merged`: the base model's folder with the adapter added to its weights. */
export const ExportFormat = Type.Union([Type.Literal("gguf"), Type.Literal("merged")]);
export type ExportFormat = Static<typeof ExportFormat>;

/** Body of `POST /adapters/{id}/export`. */
export const ExportRequest = Strict({ format: ExportFormat });
export type ExportRequest = Static<typeof ExportRequest>;

/** An export that is there. */
export const Export = Strict({
  adapter_id: AdapterId,
  format: ExportFormat,
  base_model: Type.String(),
  adapter_sha256: Type.String({ ...Sha256, description: "Of the weights that were exported" }),
  files: Type.Array(AdapterFile),
  created_at: Timestamp,
  path: Type.String({ description: "Folder of the export, relative to the data directory" }),
});
export type Export = Static<typeof Export>;
