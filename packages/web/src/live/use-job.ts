import type { ApiError } from "@imprint/client";
import { useEffect, useState } from "react";
import { api } from "../api.js";
import { type Connection, followEvents } from "./follow.js";
import { applyJobEvent, type JobState, NO_JOB } from "./job-state.js";

interface LiveJob extends JobState {
  readonly connection: Connection;
  /** The service does not know the job: it was restarted, or forgot it. */
  readonly refused: ApiError | null;
}

const NOTHING: LiveJob = { ...NO_JOB, connection: "connecting", refused: null };

/** A job as it happens. */
export function useJob(jobId: string): LiveJob {
  const [state, setState] = useState(NOTHING);
  useEffect(() => {
    setState(NOTHING);
    return followEvents({
      open: (options) => api.jobs.events(jobId, options),
      onEvent: (event) => setState((before) => ({ ...before, ...applyJobEvent(before, event) })),
      onConnection: (connection) => setState((before) => ({ ...before, connection })),
      onRefused: (refused) => setState((before) => ({ ...before, refused })),
    });
  }, [jobId]);
  return state;
}
