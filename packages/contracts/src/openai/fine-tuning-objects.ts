import { type Static, Type } from "typebox";
import { OneOf, Strict } from "../object.js";

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);
const autoOr = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([Type.Literal("auto"), schema]);

const Hyperparameters = Strict({
  n_epochs: autoOr(Type.Integer()),
  batch_size: autoOr(Type.Integer()),
  learning_rate_multiplier: autoOr(Type.Number()),
});

export const FineTuningJob = Strict({
  id: Type.String(),
  object: Type.Literal("fine_tuning.job"),
  created_at: Type.Integer(),
  finished_at: orNull(Type.Integer()),
  estimated_finish: orNull(Type.Integer()),
  status: OneOf(["queued", "running", "succeeded", "failed", "cancelled"]),
  error: orNull(Strict({ code: Type.String(), message: Type.String(), param: Type.Null() })),
  model: Type.String(),
  fine_tuned_model: orNull(Type.String()),
  training_file: Type.String(),
  validation_file: Type.Null(),
  result_files: Type.Array(Type.String()),
  trained_tokens: orNull(Type.Integer()),
  hyperparameters: Hyperparameters,
  method: Strict({ type: Type.Literal("supervised"), supervised: Strict({ hyperparameters: Hyperparameters }) }),
  seed: Type.Integer(),
  organization_id: Type.String(),
  integrations: Type.Array(Type.Unknown()),
  metadata: Type.Record(Type.String(), Type.String()),
  user_provided_suffix: orNull(Type.String()),
});
export type FineTuningJob = Static<typeof FineTuningJob>;

const Metrics = Strict({
  step: Type.Integer(),
  total_steps: Type.Integer(),
  train_loss: Type.Number(),
  learning_rate: Type.Number(),
  grad_norm: Type.Number(),
});

export const FineTuningEvent = Strict({
  id: Type.String(),
  object: Type.Literal("fine_tuning.job.event"),
  created_at: Type.Integer(),
  level: Type.Union([Type.Literal("info"), Type.Literal("error")]),
  message: Type.String(),
  type: Type.Union([Type.Literal("message"), Type.Literal("metrics")]),
  data: orNull(Metrics),
});
export type FineTuningEvent = Static<typeof FineTuningEvent>;

export const FineTuningCheckpoint = Strict({
  id: Type.String(),
  object: Type.Literal("fine_tuning.job.checkpoint"),
  created_at: Type.Integer(),
  fine_tuning_job_id: Type.String(),
  fine_tuned_model_checkpoint: Type.String(),
  step_number: Type.Integer(),
  metrics: Strict({ step: Type.Integer(), train_loss: Type.Number() }),
});
export type FineTuningCheckpoint = Static<typeof FineTuningCheckpoint>;
