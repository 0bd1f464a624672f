import type { FineTuningCheckpoint, FineTuningEvent, FineTuningJob } from "@imprint/contracts";
import type { Job } from "../../jobs/job.js";
import type { ResolvedLora } from "../../kinds/resolve.js";
import type { FineTuneEvent, KnownFineTune } from "./fine-tunes.js";

/** A page of the entries that follow; `following` may hold more than the page. */
export const pageOf = <T extends { readonly id: string }>(following: readonly T[], limit = 20) => {
  const data = following.slice(0, limit);
  return {
    object: "list",
    data: [...data],
    has_more: following.length > data.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  } as const;
};

export const seconds = (timestamp: string): number => Math.floor(Date.parse(timestamp) / 1000);

/** OpenAI's statuses; `validating_files` is over when a job is answered. */
const STATUS = {
  queued: "queued",
  running: "running",
  completed: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
} as const;

const PREFIX = "ftjob-";
export const fineTuningId = (jobId: string): string => `${PREFIX}${jobId}`;
/** The job that an id names; null for ids of another make. */
export const jobIdOf = (id: string): string | null => (id.startsWith(PREFIX) ? id.slice(PREFIX.length) : null);

const orNullSeconds = (timestamp: string | null): number | null => (timestamp === null ? null : seconds(timestamp));

export const toJob = ({ job, fineTune, trainedTokens }: KnownFineTune, now: Date): FineTuningJob => {
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

export const toEvent = (jobId: string, { number, at, level, message, metrics }: FineTuneEvent): FineTuningEvent => ({
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
export const toCheckpoints = ({ job_id, adapter_id, progress, finished_at }: Job): FineTuningCheckpoint[] =>
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
