import type { Progress } from "@imprint/contracts";
import type { Job } from "../../jobs/job.js";

/** What happened to a fine-tune, as a sentence; of a training step also the numbers. */
export interface FineTuneEvent {
  /** Grows by one from event to event. */
  readonly number: number;
  readonly at: string;
  readonly level: "info" | "error";
  readonly message: string;
  readonly metrics: Progress | null;
}

export type Happening = Pick<FineTuneEvent, "level" | "message" | "metrics">;

const info = (message: string, metrics: Progress | null = null): Happening => ({ level: "info", message, metrics });

const endOf = ({ status, error, adapter_id }: Job): readonly Happening[] => {
  if (status === "completed")
    return [info(`New fine-tuned model created: ${adapter_id}`), info("The job has successfully completed")];
  if (status === "cancelled") return [info("Fine-tuning job cancelled")];
  if (status !== "failed") return [];
  return [{ level: "error", message: `Fine-tuning job failed: ${error?.message ?? ""}`, metrics: null }];
};

/** What happened between two versions of a job; null: before it was there. */
export const happeningsOf = (before: Job | null, after: Job): readonly Happening[] => {
  const { plan, progress } = after;
  return [
    ...(after.started_at !== null && before?.started_at == null ? [info("Fine-tuning job started")] : []),
    ...(plan !== null && before?.plan == null
      ? [
          info(
            `Training on ${plan.supervised_tokens} supervised tokens in ${plan.windows} windows, up to ${plan.max_steps} steps`,
          ),
          ...plan.skipped.map(({ session_id, message }) => info(`Skipped session ${session_id}: ${message}`)),
        ]
      : []),
    ...(progress !== null && before?.progress?.step !== progress.step
      ? [info(`Step ${progress.step}/${progress.steps}: training loss=${progress.loss.toFixed(4)}`, progress)]
      : []),
    ...(before?.status === after.status ? [] : endOf(after)),
  ];
};

const KEPT_STEPS = 1000;

/** Long trainings keep every second step, then every fourth...; the sentences all stay. */
export const thinned = (events: readonly FineTuneEvent[]): readonly FineTuneEvent[] => {
  const steps = events.filter(({ metrics }) => metrics !== null);
  if (steps.length <= KEPT_STEPS) return events;
  const dropped = new Set(steps.filter((_event, index) => index % 2 === 1 && index < steps.length - 1));
  return events.filter((event) => !dropped.has(event));
};
