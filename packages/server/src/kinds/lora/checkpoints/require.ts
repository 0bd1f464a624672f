import { JobId } from "@imprint/contracts";
import { ImprintError } from "../../../common/error.js";
import { matches } from "../../../common/matches.js";
import { quote } from "../../../common/quote.js";
import type { Jobs } from "../../../jobs/jobs.js";
import { isTerminal } from "../../../jobs/status.js";
import type { DataPaths } from "../../../storage/paths.js";
import type { Workshop } from "../../workshop.js";
import type { ResolvedLora } from "../resolve.js";
import { requestOfCheckpoint } from "./folder.js";

interface Kept {
  readonly jobs: Pick<Jobs, "get">;
  readonly workshop: Pick<Workshop, "paths">;
}

/** Whatever `read` finds of a finished job, also where a restart has forgotten the job. */
export const requireKept = async <Request>(
  jobId: string,
  { jobs, workshop: { paths } }: Kept,
  read: (paths: DataPaths, jobId: string) => Promise<Request>,
): Promise<Request> => {
  const job = matches(JobId, jobId) ? jobs.get(jobId) : null;
  if (job === null) throw new ImprintError("CHECKPOINT_NOT_FOUND", `There is no job ${quote(jobId)}.`);
  if (job && !isTerminal(job.status)) throw new ImprintError("JOB_NOT_FINISHED", `The job ${jobId} is ${job.status}.`);
  if (job?.status === "completed")
    throw new ImprintError("CHECKPOINT_NOT_FOUND", `The job ${jobId} is completed: its adapter is ${job.adapter_id}.`);
  return read(paths, jobId);
};

/**
 * The resolved request of a finished job that left a checkpoint, also where a restart has forgotten the job.
 * @throws ImprintError JOB_NOT_FINISHED, CHECKPOINT_NOT_FOUND or CHECKPOINT_INVALID
 */
export const requireCheckpoint = (jobId: string, kept: Kept): Promise<ResolvedLora> =>
  requireKept(jobId, kept, requestOfCheckpoint);
