import type {
  JobDetails,
  JobEvent,
  JobList,
  JobRecord,
  JobStatus,
  JobsEvent,
  Resubmitted,
  SalvageRequest,
  StartResponse,
} from "@imprint/contracts";
import type { EventOptions, EventStream, Subscribe } from "../events/subscribe.js";
import type { CallOptions, Runtime, StartOptions } from "../http/options.js";
import type { Send } from "../http/request.js";
import { isFinished, type WaitOptions, waitFor } from "./wait-for.js";

export interface JobQuery {
  readonly status?: JobStatus;
  readonly limit?: number;
  /** The `next` of the page before. */
  readonly after?: string;
  /** What the id begins with. */
  readonly prefix?: string;
}

export interface Jobs {
  get(jobId: string, options?: CallOptions): Promise<JobRecord>;
  /** Everything known: request as resolved, plan, progress, proof. */
  details(jobId: string, options?: CallOptions): Promise<JobDetails>;
  /** Newest first. */
  list(query?: JobQuery, options?: CallOptions): Promise<JobList>;
  /** Starts the jobs that waited when the service stopped. */
  resubmit(options?: StartOptions): Promise<Resubmitted>;
  /** Asks for a stop. Throws a ConflictError when the job is finished. */
  cancel(jobId: string, options?: CallOptions): Promise<void>;
  /**
   * What happens to a job, to its end: a snapshot first, then every event in order. Lost connections are taken up again where they
   * broke; what is not remembered any more is replaced by a resync and a snapshot.
   */
  events(jobId: string, options?: EventOptions): EventStream<JobEvent>;
  /** The same of all jobs, without their logs, until the signal aborts. */
  watch(options?: EventOptions): EventStream<JobsEvent>;
  /**
   * Starts a job that makes a partial adapter of the last checkpoint of a cancelled or failed one. Throws a NotFoundError when
   * there is none. `train.lora({ resume_from: jobId })` trains on instead.
   */
  salvage(jobId: string, request?: SalvageRequest, options?: StartOptions): Promise<StartResponse>;
  /** Resolves with the job's last details once it is completed, failed or cancelled: look at `status`. */
  waitFor(jobId: string, options?: WaitOptions): Promise<JobDetails>;
}

const isLast = (event: JobEvent): boolean => "job" in event && isFinished(event.job);

export function jobsResource(send: Send, subscribe: Subscribe, runtime: Runtime): Jobs {
  const pathOf = (jobId: string, rest = ""): string => `/jobs/${encodeURIComponent(jobId)}${rest}`;
  const details: Jobs["details"] = (jobId, options) => send({ method: "GET", path: pathOf(jobId, "/details"), options });
  const events: Jobs["events"] = (jobId, options) => subscribe({ path: pathOf(jobId, "/events"), isLast, options });
  return {
    details,
    events,
    watch: (options) => subscribe<JobsEvent>({ path: "/jobs/events", isLast: () => false, options }),
    get: (jobId, options) => send({ method: "GET", path: pathOf(jobId), options }),
    list: (query, options) => send({ method: "GET", path: "/jobs", query: { ...query }, options }),
    resubmit: ({ idempotencyKey = runtime.newKey(), ...options } = {}) =>
      send({ method: "POST", path: "/jobs/resubmit", idempotencyKey, options }),
    // Cancelling twice is the same as once.
    cancel: async (jobId, options) => {
      await send({ method: "POST", path: pathOf(jobId, "/cancel"), repeatable: true, options });
    },
    salvage: (jobId, request = {}, { idempotencyKey = runtime.newKey(), ...options } = {}) =>
      send({ method: "POST", path: pathOf(jobId, "/salvage"), json: request, idempotencyKey, options }),
    waitFor: (jobId, options) => waitFor({ jobId, details, events, runtime, options }),
  };
}
