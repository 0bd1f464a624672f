import type { JobDetails, JobList, JobRecord, JobStatus } from "@imprint/contracts";
import type { CallOptions, Runtime } from "../http/options.js";
import type { Send } from "../http/request.js";
import { type WaitOptions, waitFor } from "./wait-for.js";

export interface JobQuery {
  readonly status?: JobStatus;
  readonly limit?: number;
  /** The `next` of the page before. */
  readonly after?: string;
}

export interface Jobs {
  get(jobId: string, options?: CallOptions): Promise<JobRecord>;
  /** Everything known: request as resolved, plan, progress, proof. */
  details(jobId: string, options?: CallOptions): Promise<JobDetails>;
  /** Newest first. */
  list(query?: JobQuery, options?: CallOptions): Promise<JobList>;
  /** Asks for a stop. Throws a ConflictError when the job is finished. */
  cancel(jobId: string, options?: CallOptions): Promise<void>;
  /** Resolves with the job's last details once it is completed, failed or cancelled: look at `status`. */
  waitFor(jobId: string, options?: WaitOptions): Promise<JobDetails>;
}

export function jobsResource(send: Send, runtime: Runtime): Jobs {
  const pathOf = (jobId: string, rest = ""): string => `/jobs/${encodeURIComponent(jobId)}${rest}`;
  const details: Jobs["details"] = (jobId, options) => send({ method: "GET", path: pathOf(jobId, "/details"), options });
  return {
    details,
    get: (jobId, options) => send({ method: "GET", path: pathOf(jobId), options }),
    list: (query, options) => send({ method: "GET", path: "/jobs", query: { ...query }, options }),
    // Cancelling twice is the same as once.
    cancel: async (jobId, options) => {
      await send({ method: "POST", path: pathOf(jobId, "/cancel"), repeatable: true, options });
    },
    waitFor: (jobId, options) => waitFor({ jobId, details, runtime, options }),
  };
}
