import { ProblemError, quote } from "../../common/error.js";
import type { Job } from "../../jobs/job.js";
import type { Jobs } from "../../jobs/jobs.js";

/** The job of a path. Throws ProblemError JOB_NOT_FOUND. */
export const findJob = (jobs: Jobs, jobId: string): Job => {
  const job = jobs.get(jobId);
  if (!job)
    throw new ProblemError("JOB_NOT_FOUND", `There is no job ${quote(jobId)}: jobs live in memory, and a restart forgets them.`);
  return job;
};
