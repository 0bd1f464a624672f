import { mkdir, rm } from "node:fs/promises";
import type { CheckpointSpec } from "@imprint/contracts";
import { ImprintError } from "../../../common/error.js";
import type { Job } from "../../../jobs/job.js";
import { reference } from "../../../runners/reference.js";
import type { KindDeps } from "../../deps.js";
import { prepareTraining, removeStaging, type StagedTraining, type TrainingRequest } from "../../training.js";
import { type CheckpointFormat, checkpointFolder, writeRequest } from "./folder.js";

interface Begun {
  readonly jobId: string;
  /** As it is stored. */
  readonly request: object;
  readonly resumeFrom: string | null;
}

/** The preparation and the end of trainings that leave a checkpoint: what was found outlives every job but one that made its adapter. */
export const createKeptTraining = (deps: KindDeps, format: CheckpointFormat) => {
  const { paths, checkpointSeconds: seconds } = deps;

  const tidy = async ({ job_id }: Pick<Job, "job_id">, registered: boolean): Promise<void> => {
    const own = checkpointFolder(paths, job_id);
    if (registered || !format.isIn(own)) await rm(own, { recursive: true, force: true });
  };

  return {
    /**
     * Makes a job's folder, which begins with what the job goes on from. Leaves no folder behind when it rejects.
     * @throws ImprintError CHECKPOINT_NOT_FOUND
     */
    begin: async ({ jobId, request, resumeFrom }: Begun): Promise<CheckpointSpec> => {
      const folder = checkpointFolder(paths, jobId);
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeRequest(folder, request);
        if (resumeFrom !== null) {
          const source = checkpointFolder(paths, resumeFrom);
          if (!format.isIn(source))
            throw new ImprintError("CHECKPOINT_NOT_FOUND", `The checkpoint of the ${format.name} ${resumeFrom} is gone.`);
          await format.copy(source, folder);
        }
      } catch (error) {
        await rm(folder, { recursive: true, force: true });
        throw error;
      }
      return { dir: reference("checkpoints", jobId), seconds, start: resumeFrom === null ? "fresh" : "resume" };
    },
    prepare: async <Request extends TrainingRequest & { readonly skip_invalid: boolean }, Task>(
      job: Job<Request>,
      signal: AbortSignal,
      toTask: (staged: StagedTraining) => Promise<Task>,
    ): Promise<Task> => {
      try {
        return await prepareTraining(job, { skipInvalid: job.request.skip_invalid, signal, toTask }, deps);
      } catch (error) {
        await tidy(job, false);
        throw error;
      }
    },
    discard: async (job: Pick<Job, "job_id">, { registered }: { readonly registered: boolean }): Promise<void> => {
      await removeStaging(paths, job);
      await tidy(job, registered);
    },
  };
};
