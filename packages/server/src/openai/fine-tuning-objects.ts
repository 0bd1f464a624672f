import { OneOf, Strict } from "@imprint/contracts";
import { type Static, Type } from "typebox";
import type { Job } from "../jobs/job.js";
import type { ResolvedLora } from "../kinds/lora/resolve.js";
import type { FineTuneEvent } from "./events.js";
import type { KnownFineTune } from "./fine-tunes.js";
import { seconds } from "./pages.js";

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);
const autoOr = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([Type.Literal("auto"), schema]);

const Hyperparameters = Strict({
  n_epochs: autoOr(Type.Integer()),
  batch_size: autoOr(Type.Integer()),
  learning_rate_multiplier: autoOr(Type.Number()),
});

/** OpenAI's statuses; `validating_files` is over when a job is answered. */
const STATUS = {
  queued: "queued",
  running: "running",
  completed: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
} as const;

export const FineTuningJob = Strict({
  id: Type.String(),
  object: Type.Literal("fine_tuning.job"),
  created_at: Type.Integer(),
  finished_at: orNull(Type.Integer()),
  estimated_finish: orNull(Type.Integer()),
  status: OneOf(Object.values(STATUS)),
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

export const FineTuningCheckpoint = Strict({
  id: Type.String(),
  object: Type.Literal("fine_tuning.job.checkpoint"),
  created_at: Type.Integer(),
  fine_tuning_job_id: Type.String(),
  fine_tuned_model_checkpoint: Type.String(),
  step_number: Type.Integer(),
  metrics: Strict({ step: Type.Integer(), train_loss: Type.Number() }),
});

const PREFIX = "ftjob-";
export const fineTuningId = (jobId: string): string => `${PREFIX}${jobId}`;
/** The job that an id names; null for ids of another make. */
export const jobIdOf = (id: string): string | null => (id.startsWith(PREFIX) ? id.slice(PREFIX.length) : null);

const orNullSeconds = (timestamp: string | null): number | null => (timestamp === null ? null : seconds(timestamp));

export const toJob = ({ job, fineTune, trainedTokens }: KnownFineTune, now: Date): Static<typeof FineTuningJob> => {
  const request = job.request as ResolvedLora;
  const hyperparameters = {
    n_epochs: request.epochs ?? "auto",
    batch_size: job.plan?.accumulation ?? "auto",
    learning_rate_multiplier: fineTune.learning_rate_multiplier,
  } as const;
  const { error, progress, status } = job;
  return {
    id: fineTuningId(job.job_id),
    object: "fine_tuning.job",
    created_at: seconds(job.created_at),
    finished_at: orNullSeconds(job.finished_at),
    estimated_finish: status === "running" && progress ? Math.ceil(now.getTime() / 1000 + progress.eta_seconds) : null,
    status: STATUS[status],
    error: error && { code: error.code.toLowerCase(), message: `${error.message} ${error.hint}`, param: null },
    model: request.base_model,
    fine_tuned_model: job.adapter_id,
    training_file: fineTune.training_file,
    validation_file: null,
    result_files: [],
    trained_tokens: status === "completed" ? trainedTokens : null,
    hyperparameters,
    method: { type: "supervised", supervised: { hyperparameters } },
    seed: request.seed,
    organization_id: "imprint",
    integrations: [],
    metadata: request.metadata,
    user_provided_suffix: fineTune.suffix,
  };
};

export const eventId = (jobId: string, number: number): string => `ftevent-${jobId}-${number}`;

export const toEvent = (
  jobId: string,
  { number, at, level, message, metrics }: FineTuneEvent,
): Static<typeof FineTuningEvent> => ({
  id: eventId(jobId, number),
  object: "fine_tuning.job.event",
  created_at: seconds(at),
  level,
  message,
  type: metrics ? "metrics" : "message",
  data: metrics && {
    step: metrics.step,
    total_steps: metrics.steps,
    train_loss: metrics.loss,
    learning_rate: metrics.learning_rate,
    grad_norm: metrics.grad_norm,
  },
});

/** The adapter of a finished job: what a training kept on its way cannot be chatted with. */
export const toCheckpoints = ({ job_id, adapter_id, progress, finished_at }: Job): Static<typeof FineTuningCheckpoint>[] =>
  adapter_id === null || progress === null || finished_at === null
    ? []
    : [
        {
          id: `ftckpt-${job_id}-${progress.step}`,
          object: "fine_tuning.job.checkpoint",
          created_at: seconds(finished_at),
          fine_tuning_job_id: fineTuningId(job_id),
          fine_tuned_model_checkpoint: adapter_id,
          step_number: progress.step,
          metrics: { step: progress.step, train_loss: progress.loss },
        },
      ];
