import { type Static, Type } from "typebox";
import { AdapterId, JobId } from "../ids.js";
import { Strict } from "../object.js";
import { SizeOf, WindowsOf } from "../preview.js";
import { EarlyStopping, Sweep } from "../sweep.js";
import { JobResult } from "./job-result.js";
import { CheckpointSpec } from "./lora.js";

const { rank: Rank, ...size } = SizeOf;
const { epochs: Epochs, within: _within, ...windows } = WindowsOf;

/** What one trial is trained with. Null: as a training alone decides it. */
export const TrialSpec = Strict({
  rank: Rank,
  alpha: Type.Number({ exclusiveMinimum: 0 }),
  learning_rate: Type.Union([Type.Number({ exclusiveMinimum: 0, maximum: 0.1 }), Type.Null()]),
  epochs: Epochs,
});
export type TrialSpec = Static<typeof TrialSpec>;

/** Several LoRA trainings on the same windows, of which held-out text chooses one. */
export const TrainSweepSpec = Strict({
  ...windows,
  ...size,
  adapter_id: AdapterId,
  output_dir: Type.String({ description: "Empty staging folder; the worker writes the files of the chosen adapter into it" }),
  base_model_name: Type.String(),
  task_type: Type.String(),
  seed: Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1, description: "Of every trial" }),
  trials: Type.Array(TrialSpec, { minItems: 2 }),
  early_stopping: EarlyStopping,
  checkpoint: CheckpointSpec,
});
export type TrainSweepSpec = Static<typeof TrainSweepSpec>;

export const SweepTask = Strict({ type: Type.Literal("train_sweep"), job_id: JobId, spec: TrainSweepSpec });
export type SweepTask = Static<typeof SweepTask>;

/** What a finished sweep hands over: the chosen trial's adapter, and what was tried. */
export const SweepResult = Strict({ ...JobResult.properties, sweep: Sweep });
export type SweepResult = Static<typeof SweepResult>;
