import { type JobDetails, type JobEvent, type JobsEvent, MAX_SNAPSHOT_JOBS } from "@imprint/contracts";
import type { Clock } from "../common/clock.js";
import { type Job, toDetails } from "../jobs/job.js";
import type { Jobs } from "../jobs/jobs.js";
import { isTerminal } from "../jobs/status.js";
import { type Curve, createCurve } from "./curve.js";
import { createFeed, type Feed, type FeedLimits, format } from "./feed.js";

const CURVE_POINTS = 400;
const OF_JOB: FeedLimits = { events: 2_000, characters: 512 * 1024 };
const OF_ALL: FeedLimits = { events: 2_000, characters: 1024 * 1024 };
/** Finished jobs whose events are still remembered, for clients that were away when the job ended. */
const FINISHED_FEEDS = 32;
/** New jobs after which the entries of those that are forgotten go. */
const FORGET_EVERY = 64;
/** Ids begin at the time in microseconds, so that one of an earlier run of the service is never taken for one of this run. */
const IDS_PER_MS = 1_000;

/** What a stream tells: how it is now, and what happens to it. */
export interface Source {
  readonly feed: Feed;
  /** The present state as an event, without an id. */
  snapshot(): string;
  /** Nothing follows any more. */
  ended(): boolean;
}

export interface History {
  readonly ofAll: Source;
  ofJob(job_id: string): Source | undefined;
  /** Characters of all events that are remembered. */
  size(): number;
}

interface Entry {
  job: Job;
  readonly feed: Feed;
  readonly curve: Curve;
}

/** The latest events and the curve of every job, in memory like the jobs. Each event is serialised once, for all who watch. */
export const createHistory = ({ jobs, clock }: { readonly jobs: Jobs; readonly clock: Pick<Clock, "now"> }): History => {
  const newFeed = (limits: FeedLimits): Feed => createFeed({ before: clock.now() * IDS_PER_MS, limits });
  const entries = new Map<string, Entry>();
  const all = newFeed(OF_ALL);
  const finished: string[] = [];
  let created = 0;

  const details = (job: Job): JobDetails => toDetails(job, jobs.queuePosition(job.job_id));

  /** Now and then: to look through all of them for each new job would take the longer the more there are. */
  const forgetOld = (): void => {
    created += 1;
    if (created % FORGET_EVERY !== 0) return;
    for (const job_id of entries.keys()) if (!jobs.get(job_id)) entries.delete(job_id);
  };

  const create = (job: Job): Entry => {
    forgetOld();
    const entry = { job, feed: newFeed(OF_JOB), curve: createCurve(CURVE_POINTS) };
    entries.set(job.job_id, entry);
    return entry;
  };

  jobs.subscribe((job) => {
    const entry = entries.get(job.job_id) ?? create(job);
    const { job_id, progress } = job;
    const stepped = progress !== null && progress !== entry.job.progress;
    if (stepped) entry.curve.add(progress);
    entry.job = job;
    const text = format(stepped ? { type: "progress", job_id, progress } : { type: "status", job: details(job) });
    entry.feed.push(text);
    all.push(text);
    if (!isTerminal(job.status)) return;
    entry.curve.end();
    finished.push(job_id);
    if (finished.length > FINISHED_FEEDS) entries.get(finished.shift() ?? "")?.feed.forget();
  });
  jobs.subscribeToLog((job_id, text) => entries.get(job_id)?.feed.push(format({ type: "log", job_id, text })));

  const snapshotOf = ({ job, curve }: Entry): JobEvent => ({
    type: "snapshot",
    job: details(job),
    curve: [...curve.points()],
    log: jobs.log(job.job_id),
  });

  const snapshotOfAll = (): JobsEvent => {
    const limit = MAX_SNAPSHOT_JOBS;
    const running = jobs.list({ status: "running", limit }).jobs;
    const others = jobs.list({ limit }).jobs.filter(({ status }) => status !== "running");
    const shown = [...running, ...others].slice(0, limit).sort((a, b) => (a.job_id < b.job_id ? 1 : -1));
    return { type: "snapshot", jobs: shown.map(details) };
  };

  return {
    ofAll: { feed: all, snapshot: () => format(snapshotOfAll()), ended: () => false },
    ofJob(job_id) {
      const entry = entries.get(job_id);
      if (!entry || !jobs.get(job_id)) return undefined;
      return { feed: entry.feed, snapshot: () => format(snapshotOf(entry)), ended: () => isTerminal(entry.job.status) };
    },
    size: () => [...entries.values()].reduce((sum, { feed }) => sum + feed.size(), all.size()),
  };
};
