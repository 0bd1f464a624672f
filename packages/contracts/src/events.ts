import { type Static, Type } from "typebox";
import { JobId } from "./ids.js";
import { JobDetails } from "./jobs.js";
import { Strict } from "./object.js";
import { Progress } from "./training.js";

/** Training steps in order, thinned out where there were many: the first and the last one are always there. */
export const Curve = Type.Array(Progress);
export type Curve = Static<typeof Curve>;

const status = Strict({ type: Type.Literal("status"), job: JobDetails });
const progress = Strict({ type: Type.Literal("progress"), job_id: JobId, progress: Progress });
const resync = Strict({ type: Type.Literal("resync"), reason: Type.String() });

/**
 * Server-sent events of `GET /jobs/{id}/events`. The `event:` line is the type, `data:` the whole object, `id:` a number that
 * grows. A stream begins with a snapshot, or, after a `Last-Event-ID` that is still remembered, with exactly what followed it;
 * after one that is not, with a resync, which has no id, and a snapshot. A reader that is too slow gets those two as well. The
 * stream ends after the status that ends the job, or after the snapshot of a job that has ended; whoever has its last event
 * and asks again is answered 204, at which browsers connect no more. Without news a comment comes every 15 seconds.
 */
export const JobEvent = Type.Union([
  Strict({ type: Type.Literal("snapshot"), job: JobDetails, curve: Curve, log: Type.String() }),
  status,
  progress,
  Strict({ type: Type.Literal("log"), job_id: JobId, text: Type.String() }),
  resync,
]);
export type JobEvent = Static<typeof JobEvent>;

/** Jobs in the snapshot of all: those that run, and the newest. `GET /jobs` pages through all. */
export const MAX_SNAPSHOT_JOBS = 100;

/**
 * Server-sent events of `GET /jobs/events`, for all jobs; no logs. Its ids are its own. A status is told when a job changes:
 * that the job before it left the queue changes only its `queue_position`. The stream goes on until the client leaves.
 */
export const JobsEvent = Type.Union([
  Strict({ type: Type.Literal("snapshot"), jobs: Type.Array(JobDetails) }),
  status,
  progress,
  resync,
]);
export type JobsEvent = Static<typeof JobsEvent>;
