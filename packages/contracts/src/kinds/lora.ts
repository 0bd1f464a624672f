import { type Static, Type } from "typebox";
import { AdapterId, JobId } from "../ids.js";
import { Strict } from "../object.js";
import { SizeOf, WindowsOf } from "../preview.js";

/** How a training keeps what it has done, and what it begins with. */
export const CheckpointSpec = Strict({
  dir: Type.String({ description: "Folder of the job's checkpoints; the worker keeps the newest" }),
  seconds: Type.Number({ minimum: 0, description: "Between two checkpoints; 0: one after each step" }),
  start: Type.Union([Type.Literal("fresh"), Type.Literal("resume"), Type.Literal("salvage")], {
    description: "resume: go on from the checkpoint in dir; salvage: make an adapter of it, and train nothing",
  }),
});
export type CheckpointSpec = Static<typeof CheckpointSpec>;

/** A LoRA training, fully resolved: the worker assumes nothing. */
export const TrainLoraSpec = Strict({
  ...WindowsOf,
  ...SizeOf,
  adapter_id: AdapterId,
  output_dir: Type.String({ description: "Empty staging folder; the worker writes the adapter's files into it" }),
  base_model_name: Type.String({ description: "What adapter_config.json names as the base" }),
  task_type: Type.String(),
  seed: Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 }),
  alpha: Type.Number({ exclusiveMinimum: 0 }),
  /** Null: by the width of the base model. */
  learning_rate: Type.Union([Type.Number({ exclusiveMinimum: 0, maximum: 0.1 }), Type.Null()]),
  checkpoint: CheckpointSpec,
});
export type TrainLoraSpec = Static<typeof TrainLoraSpec>;

export const LoraTask = Strict({ type: Type.Literal("train_lora"), job_id: JobId, spec: TrainLoraSpec });
export type LoraTask = Static<typeof LoraTask>;
