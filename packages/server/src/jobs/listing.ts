import type { Job } from "./job.js";
import type { JobPage, JobQuery } from "./jobs.js";

/** One page of jobs that come newest first. The cursor is an id, so it stays good when its job is forgotten. */
export function pageOf(newestFirst: readonly Job[], { status, limit, after, prefix = "" }: JobQuery): JobPage {
  const matching = newestFirst.filter(
    (job) =>
      (status === undefined || job.status === status) &&
      (after === undefined || job.job_id < after) &&
      job.job_id.startsWith(prefix),
  );
  const jobs = matching.slice(0, limit);
  return { jobs, next: matching.length > limit ? (jobs.at(-1)?.job_id ?? null) : null };
}
