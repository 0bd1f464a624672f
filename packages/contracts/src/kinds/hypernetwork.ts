import { type Static, Type } from "typebox";
import { AdapterId, JobId, SessionId } from "../ids.js";
import { Strict } from "../object.js";

/** A single-pass imprint through a hypernetwork, fully resolved. */
export const TrainHypernetworkSpec = Strict({
  session_path: Type.String(),
  session_id: SessionId,
  adapter_id: AdapterId,
  output_dir: Type.String(),
  base_model: Type.String(),
  base_model_name: Type.String(),
  hypernetworks_dirs: Type.Array(Type.String(), {
    minItems: 1,
    description: "Folders whose sub-folders are hypernetworks; the first that fits the base model is used",
  }),
  task_type: Type.String(),
  seed: Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 }),
  include_unsuccessful: Type.Boolean(),
  max_chunk_length: Type.Union([Type.Integer(), Type.Null()]),
  /** Null: calibrated. */
  scaling: Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.Null()]),
  max_chunks: Type.Integer({ minimum: 1 }),
  compress_rank: Type.Union([Type.Integer(), Type.Null()]),
});
export type TrainHypernetworkSpec = Static<typeof TrainHypernetworkSpec>;

export const HypernetworkTask = Strict({ type: Type.Literal("train_hypernetwork"), job_id: JobId, spec: TrainHypernetworkSpec });
export type HypernetworkTask = Static<typeof HypernetworkTask>;
