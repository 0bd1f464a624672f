import type { Progress } from "@imprint/contracts";
import type { Job } from "../../jobs/job.js";
import type { Jobs } from "../../jobs/jobs.js";

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

/** What was asked for in OpenAI's words and cannot be told from the job. */
interface FineTune {
  readonly training_file: string;
  readonly suffix: string | null;
  readonly learning_rate_multiplier: number | "auto";
  /** What was done before the job was queued. */
  readonly before: readonly string[];
}

export interface KnownFineTune {
  readonly job: Job;
  readonly fineTune: FineTune;
  /** Supervised tokens that its steps have learned from so far, each as often as it was read. */
  readonly trainedTokens: number;
}

export interface FineTunes {
  add(jobId: string, fineTune: FineTune): void;
  get(jobId: string): KnownFineTune | undefined;
  /** Ids, newest first. */
  ids(): readonly string[];
  /** Newest first. */
  events(jobId: string): readonly FineTuneEvent[];
}

interface Entry {
  readonly fineTune: FineTune;
  readonly events: readonly FineTuneEvent[];
  readonly seen: Job | null;
  readonly trainedTokens: number;
  readonly count: number;
}

const grown = (entry: Entry, happenings: readonly Happening[], at: string): Entry => {
  const events = happenings.map((happening, index) => ({ ...happening, number: entry.count + index + 1, at }));
  return { ...entry, events: thinned([...entry.events, ...events]), count: entry.count + events.length };
};

/** The jobs that OpenAI's clients started, and what happened to them; known as long as the jobs are. */
export const createFineTunes = ({ jobs, now }: { readonly jobs: Jobs; readonly now: () => Date }): FineTunes => {
  const entries = new Map<string, Entry>();

  const update = (job: Job | undefined): void => {
    const entry = job && entries.get(job.job_id);
    if (!job || !entry || entry.seen === job) return;
    const stepped = job.progress !== null && job.progress !== entry.seen?.progress;
    entries.set(job.job_id, {
      ...grown(entry, happeningsOf(entry.seen, job), now().toISOString()),
      seen: job,
      trainedTokens: entry.trainedTokens + (stepped ? job.progress.supervised_tokens : 0),
    });
  };
  jobs.subscribe(update);

  const forgetOld = (): void => {
    for (const id of entries.keys()) if (!jobs.get(id)) entries.delete(id);
  };

  return {
    add(jobId, fineTune) {
      forgetOld();
      if (entries.has(jobId)) return;
      const begun = fineTune.before.map((message): Happening => ({ level: "info", message, metrics: null }));
      entries.set(jobId, grown({ fineTune, events: [], seen: null, trainedTokens: 0, count: 0 }, begun, now().toISOString()));
      update(jobs.get(jobId));
    },
    get(jobId) {
      const job = jobs.get(jobId);
      const entry = entries.get(jobId);
      return job && entry && { job, fineTune: entry.fineTune, trainedTokens: entry.trainedTokens };
    },
    ids() {
      forgetOld();
      return [...entries.keys()].reverse();
    },
    events: (jobId) => [...(entries.get(jobId)?.events ?? [])].reverse(),
  };
};
