import type { Job } from "../../jobs/job.js";
import type { Jobs } from "../../jobs/jobs.js";
import { type FineTuneEvent, type Happening, happeningsOf, thinned } from "./events.js";

/** What was asked for in OpenAI's words and cannot be told from the job. */
export interface FineTune {
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

  const hear = (job: Job | undefined): void => {
    const entry = job && entries.get(job.job_id);
    if (!job || !entry || entry.seen === job) return;
    const stepped = job.progress !== null && job.progress !== entry.seen?.progress;
    entries.set(job.job_id, {
      ...grown(entry, happeningsOf(entry.seen, job), now().toISOString()),
      seen: job,
      trainedTokens: entry.trainedTokens + (stepped ? job.progress.supervised_tokens : 0),
    });
  };
  jobs.subscribe(hear);

  const forgetOld = (): void => {
    for (const id of entries.keys()) if (!jobs.get(id)) entries.delete(id);
  };

  return {
    add(jobId, fineTune) {
      forgetOld();
      if (entries.has(jobId)) return;
      const begun = fineTune.before.map((message): Happening => ({ level: "info", message, metrics: null }));
      entries.set(jobId, grown({ fineTune, events: [], seen: null, trainedTokens: 0, count: 0 }, begun, now().toISOString()));
      hear(jobs.get(jobId));
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
