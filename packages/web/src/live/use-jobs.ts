import type { JobDetails } from "@imprint/contracts";
import { useEffect, useState } from "react";
import { api } from "../api.js";
import { type Connection, followEvents } from "./follow.js";
import { applyJobsEvent } from "./job-state.js";

interface LiveJobs {
  /** Newest first; null until the service told. */
  readonly jobs: readonly JobDetails[] | null;
  readonly connection: Connection;
}

/** All jobs as they happen. */
export function useJobs(): LiveJobs {
  const [state, setState] = useState<LiveJobs>({ jobs: null, connection: "connecting" });
  useEffect(
    () =>
      followEvents({
        open: api.jobs.watch,
        onEvent: (event) => setState((before) => ({ ...before, jobs: applyJobsEvent(before.jobs ?? [], event) })),
        onConnection: (connection) => setState((before) => ({ ...before, connection })),
        onRefused: () => setState((before) => ({ ...before, connection: "lost" })),
      }),
    [],
  );
  return state;
}
