import { type Static, Type } from "typebox";
import { AdapterId, JobId, SessionId, Sha256, Timestamp } from "./ids.js";
import { JobKind } from "./jobs.js";
import { Strict } from "./object.js";
import { Proof } from "./training.js";

/** A file of an adapter, as the trainer wrote it and the service re-hashed it. */
export const AdapterFile = Strict({
  name: Type.String({ pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$" }),
  size: Type.Integer({ minimum: 0 }),
  sha256: Sha256,
});
export type AdapterFile = Static<typeof AdapterFile>;

export const AdapterHealth = Type.Union([Type.Literal("ok"), Type.Literal("missing"), Type.Literal("corrupt")]);
export type AdapterHealth = Static<typeof AdapterHealth>;

/** How far the training of a salvaged adapter came. */
export const PartialTraining = Strict({ step: Type.Integer({ minimum: 1 }), max_steps: Type.Integer({ minimum: 1 }) });
export type PartialTraining = Static<typeof PartialTraining>;

/** A registered adapter. */
export const Adapter = Strict({
  adapter_id: AdapterId,
  method: JobKind,
  base_model: Type.String(),
  task_type: Type.String(),
  /** The first of `session_ids`. */
  session_id: SessionId,
  session_ids: Type.Array(SessionId, { minItems: 1 }),
  job_id: JobId,
  rank: Type.Integer({ minimum: 1 }),
  alpha: Type.Number(),
  size: Type.Integer({ minimum: 0, description: "Bytes of all files" }),
  sha256: Sha256,
  files: Type.Array(AdapterFile),
  metadata: Type.Record(Type.String(), Type.String()),
  proof: Proof,
  /** Null for a training that went to its end; else the adapter was salvaged from a checkpoint. */
  partial: Type.Union([PartialTraining, Type.Null()]),
  created_at: Timestamp,
  health: AdapterHealth,
  path: Type.String({ description: "Folder of the adapter, relative to the data directory" }),
});
export type Adapter = Static<typeof Adapter>;

export const AdapterList = Strict({ adapters: Type.Array(Adapter), next: Type.Union([AdapterId, Type.Null()]) });
export type AdapterList = Static<typeof AdapterList>;
