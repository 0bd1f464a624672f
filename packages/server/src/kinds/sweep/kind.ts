import { rm } from "node:fs/promises";
import type { CheckpointSpec, SweepResult, SweepTask } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";
import type { Job } from "../../jobs/job.js";
import type { Kind } from "../../jobs/kind.js";
import { onRunner } from "../../jobs/on-runner.js";
import { reference } from "../../runners/reference.js";
import { checkpointFolder, hasSweep } from "../lora/checkpoints/folder.js";
import { prepareTraining, registerTraining, removeStaging } from "../training.js";
import type { Workshop } from "../workshop.js";
import { makeSweepFolder } from "./checkpoint.js";
import type { SweepJobRequest } from "./resolve.js";

type SweepJob = Job<SweepJobRequest>;

/** Several LoRA trainings on the same windows, the best of which becomes an adapter; from the start, or from where one stopped. */
export const createSweep = (workshop: Workshop): Kind<SweepJobRequest, SweepTask, SweepResult> => {
  const { paths, checkpointSeconds: seconds } = workshop;

  const checkpointOf = async ({ job_id, request }: SweepJob): Promise<CheckpointSpec> => {
    const { resume_from: resumeFrom = null, ...decided } = request;
    await makeSweepFolder(paths, { jobId: job_id, request: decided, resumeFrom });
    return { dir: reference("checkpoints", job_id), seconds, start: resumeFrom === null ? "fresh" : "resume" };
  };

  /** What was found outlives every sweep but one that made its adapter. */
  const tidy = async ({ job_id }: SweepJob, registered: boolean): Promise<void> => {
    const own = checkpointFolder(paths, job_id);
    if (registered || !hasSweep(own)) await rm(own, { recursive: true, force: true });
  };

  return {
    reserves: ({ adapter_id }) => adapter_id,
    prepare: async (job, signal) => {
      const { metadata: _kept, keep_harmful: _rule, session_id: _first, resume_from: _from, ...rest } = job.request;
      try {
        return await prepareTraining(
          job,
          {
            skipInvalid: job.request.skip_invalid,
            signal,
            toTask: async ({ staged, files }): Promise<SweepTask> => {
              const spec = { ...rest, ...files, ...staged, checkpoint: await checkpointOf(job) };
              return { type: "train_sweep", job_id: job.job_id, spec };
            },
          },
          workshop,
        );
      } catch (error) {
        await tidy(job, false);
        throw error;
      }
    },
    run: onRunner,
    finish: async (done) => {
      const { best, trials } = done.result.sweep;
      if (best === null || trials.length !== done.job.request.trials.length)
        throw new ImprintError("WORKER_PROTOCOL", "The trainer chose none of the trials that it was given.");
      await registerTraining(done, { method: "lora" }, workshop);
    },
    discard: async (job, { registered }) => {
      await removeStaging(paths, job);
      await tidy(job, registered);
    },
    shows: ({ adapter_id }, { proof, sweep }) => ({ adapter_id, proof, result: sweep }),
  };
};
