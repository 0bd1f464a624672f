import type { JobDetails, JobEvent } from "@imprint/contracts";

/** The job after an event; null as long as nothing is known of it. Every event but a log line is one version of the record. */
export function fold(job: JobDetails | null, event: JobEvent): JobDetails | null {
  if (event.type === "snapshot" || event.type === "status") return event.job;
  if (event.type === "progress" && job !== null) return { ...job, progress: event.progress, version: job.version + 1 };
  return job;
}

/** Text by which the place in a log is found again. */
const MARK = 1_000;

/** What of a log's end was not told yet; all of it when the place where the telling stopped is not in it any more. */
export function untold(told: string, log: string): string {
  const mark = told.slice(-MARK);
  const at = mark === "" ? -1 : log.lastIndexOf(mark);
  return at < 0 ? log : log.slice(at + mark.length);
}
