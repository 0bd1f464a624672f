import { type Static, Type } from "typebox";
import { ErrorDetail } from "./errors.js";
import { Measuring } from "./evaluation.js";
import { AdapterId, JobId, Timestamp } from "./ids.js";
import { JobKind, ShownResult } from "./kinds.js";
import { OneOf, Strict } from "./object.js";
import { KeepHarmful, Metadata, NewAdapterId, Progress, Proof, StartResponse, TrainingPlan } from "./training.js";

export const JOB_STATUSES = ["queued", "running", "completed", "failed", "cancelled"] as const;
export const JobStatus = OneOf(JOB_STATUSES);
export type JobStatus = (typeof JOB_STATUSES)[number];

/**
 * The specification's job record: exactly these fields, `error` only when there is one. `adapter_id` of a completed job is
 * the adapter that it made, exported or evaluated; null of a pull.
 */
export const JobRecord = Strict({
  job_id: JobId,
  status: JobStatus,
  adapter_id: Type.Union([AdapterId, Type.Null()]),
  error: Type.Optional(Type.String()),
});
export type JobRecord = Static<typeof JobRecord>;

/** Where a running job is. */
export const JOB_PHASES = [
  "starting",
  "fetching",
  "loading_model",
  "preparing_data",
  "training",
  "measuring",
  "generating",
  "exporting",
  "saving",
  "proving",
  "registering",
] as const;
export const JobPhase = OneOf(JOB_PHASES);
export type JobPhase = (typeof JOB_PHASES)[number];

/** The newest state of a training that a resume or a salvage can use. */
export const Checkpoint = Strict({ step: Type.Integer({ minimum: 1 }), at: Timestamp });
export type Checkpoint = Static<typeof Checkpoint>;

/** Everything known about a job. */
export const JobDetails = Strict({
  ...JobRecord.properties,
  error: Type.Optional(ErrorDetail),
  kind: JobKind,
  version: Type.Integer({ minimum: 1, description: "Grows by one with every change of the record" }),
  request: Type.Record(Type.String(), Type.Unknown(), { description: "The request as resolved: defaults and seed filled in" }),
  created_at: Timestamp,
  started_at: Type.Union([Timestamp, Type.Null()]),
  finished_at: Type.Union([Timestamp, Type.Null()]),
  queue_position: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  cancel_requested: Type.Boolean(),
  phase: Type.Union([JobPhase, Type.Null()]),
  plan: Type.Union([TrainingPlan, Type.Null()]),
  progress: Type.Union([Progress, Type.Null()]),
  /** How far an evaluation, or a training and its proof, is, or was when it ended. */
  measuring: Type.Union([Measuring, Type.Null()]),
  checkpoint: Type.Union([Checkpoint, Type.Null()]),
  proof: Type.Union([Proof, Type.Null()], { description: "Of a completed training, and of one that failed with ADAPTER_HARMS" }),
  /** What the job made that is no adapter, such as an export's files or an evaluation; null until it is there. Of a sweep also what it tried so far. */
  result: ShownResult,
  warnings: Type.Array(Type.String()),
});
export type JobDetails = Static<typeof JobDetails>;

/** Body of `POST /jobs/{id}/salvage`. */
export const SalvageRequest = Strict({
  adapter_id: Type.Optional(NewAdapterId),
  metadata: Type.Optional(Metadata),
  keep_harmful: Type.Optional(KeepHarmful),
});
export type SalvageRequest = Static<typeof SalvageRequest>;

/** A job as lists show it. */
export const ListedJob = Strict({
  ...JobRecord.properties,
  reserved_adapter_id: Type.Union([AdapterId, Type.Null()], {
    description: "The id that the adapter of a queued or running job will get, or the adapter that it exports or evaluates",
  }),
});
export type ListedJob = Static<typeof ListedJob>;

const count = Type.Integer({ minimum: 0 });
/** All jobs that the service remembers, by status, whatever a page of them shows. */
export const JobCounts = Strict({ queued: count, running: count, completed: count, failed: count, cancelled: count });
export type JobCounts = Static<typeof JobCounts>;

/** A training or a sweep that can go on, although its job has ended or was lost with its service. */
export const KeptCheckpoint = Strict({
  job_id: JobId,
  kind: OneOf(["lora", "sweep"]),
  adapter_id: Type.Union([AdapterId, Type.Null()]),
  written_at: Timestamp,
});
export type KeptCheckpoint = Static<typeof KeptCheckpoint>;

/** What a service that stopped, or was killed, left of its jobs. */
export const LeftJobs = Strict({
  unstarted: Type.Integer({ minimum: 0, description: "Jobs that waited when it stopped: POST /jobs/resubmit starts them" }),
  checkpoints: Type.Array(KeptCheckpoint, { description: "Newest first: resume_from goes on with one" }),
});
export type LeftJobs = Static<typeof LeftJobs>;

export const JobList = Strict({
  jobs: Type.Array(ListedJob),
  next: Type.Union([JobId, Type.Null()]),
  counts: JobCounts,
  left: LeftJobs,
});
export type JobList = Static<typeof JobList>;

/** The jobs that a stop left unstarted, submitted again. */
export const Resubmitted = Strict({
  jobs: Type.Array(StartResponse),
  refused: Type.Array(Strict({ kind: Type.String(), reason: Type.String() })),
  kept: Type.Integer({ minimum: 0, description: "Jobs for which the queue had no place: they can be submitted again" }),
});
export type Resubmitted = Static<typeof Resubmitted>;
