import type { JobDetails } from "@imprint/contracts";
import { useEffect, useState } from "react";
import { api } from "../api.js";

const LOOK_EVERY_MS = 3_000;

/** Where a queued job waits. Its own stream does not tell when the jobs before it leave the queue. */
export function useQueuePosition(job: JobDetails | null): number | null {
  const isQueued = job?.status === "queued";
  const jobId = job?.job_id;
  const [seen, setSeen] = useState<number | null>(null);
  useEffect(() => {
    if (!isQueued || jobId === undefined) return;
    const timer = setInterval(() => {
      // A failed look changes nothing: the stream says when the service is gone.
      api.jobs.details(jobId).then(
        ({ queue_position }) => setSeen(queue_position),
        () => undefined,
      );
    }, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [isQueued, jobId]);
  return isQueued ? (seen ?? job.queue_position) : null;
}
