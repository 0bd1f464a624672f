import type {
  Checkpoint,
  ErrorDetail,
  JobDetails,
  JobKind,
  JobPhase,
  JobRecord,
  JobStatus,
  ListedJob,
  Measuring,
  Progress,
  Proof,
  ShownResult,
  TrainingPlan,
} from "@imprint/contracts";
import { isTerminal } from "./status.js";

/** A request as resolved: defaults and seed filled in. */
export type JobRequest = Readonly<Record<string, unknown>>;

/** A job at one moment. Frozen: a change makes a new value with the next version, so a reader never sees half of one. */
export interface Job<Request extends JobRequest = JobRequest> {
  readonly job_id: string;
  readonly kind: JobKind;
  readonly status: JobStatus;
  /** Null until the adapter is on disk, proved and registered, or exported or evaluated: non-null means loadable. */
  readonly adapter_id: string | null;
  /** The id that the job's adapter will get, if it makes one; nobody else may take it while the job is queued or running. */
  readonly reserved_adapter_id: string | null;
  readonly error: ErrorDetail | null;
  /** Starts at 1 and grows by one with every change. */
  readonly version: number;
  readonly request: Request;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly cancel_requested: boolean;
  /** Where a running job is, or where a finished one ended; null before it started. */
  readonly phase: JobPhase | null;
  readonly plan: TrainingPlan | null;
  readonly progress: Progress | null;
  /** How far an evaluation came. */
  readonly measuring: Measuring | null;
  /** The newest state of the training that a resume or a salvage can use; null again once the adapter is registered. */
  readonly checkpoint: Checkpoint | null;
  readonly proof: Proof | null;
  /** What it made that is no adapter, such as an export's files or an evaluation; of a sweep what it tried so far. */
  readonly result: ShownResult;
  readonly warnings: readonly string[];
}

export interface NewJob {
  readonly job_id: string;
  readonly kind: JobKind;
  readonly reserved_adapter_id: string | null;
  readonly request: JobRequest;
  /** What the user should know before the job ran, e.g. trajectories that are not used. */
  readonly warnings?: readonly string[] | undefined;
  readonly created_at: string;
}

export function createJob({ request, warnings, ...rest }: NewJob): Job {
  return Object.freeze({
    ...rest,
    status: "queued",
    adapter_id: null,
    error: null,
    version: 1,
    request: Object.freeze(structuredClone(request)),
    started_at: null,
    finished_at: null,
    cancel_requested: false,
    phase: null,
    plan: null,
    progress: null,
    measuring: null,
    checkpoint: null,
    proof: null,
    result: null,
    warnings: Object.freeze([...(warnings ?? [])]),
  });
}

/** The specification's record: exactly these fields, `error` only when there is one. */
export function toRecord({ job_id, status, adapter_id, error }: Job): JobRecord {
  return { job_id, status, adapter_id, ...(error ? { error: error.message } : {}) };
}

/** A job as lists show it: the id that an unfinished one will give its adapter is told besides. */
export function toListed(job: Job): ListedJob {
  return { ...toRecord(job), reserved_adapter_id: isTerminal(job.status) ? null : job.reserved_adapter_id };
}

/** Everything known about a job; `queuePosition` is 1 for the next one to start, null when it does not wait. */
export function toDetails(job: Job, queuePosition: number | null): JobDetails {
  const { reserved_adapter_id: _, error, warnings, request, ...shown } = job;
  return {
    ...shown,
    ...(error ? { error } : {}),
    request: { ...request },
    queue_position: queuePosition,
    warnings: [...warnings],
  };
}
