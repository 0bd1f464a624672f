import type { SweepResult, SweepTask } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";
import type { Kind } from "../../jobs/kind.js";
import { onRunner } from "../../jobs/on-runner.js";
import type { KindDeps } from "../deps.js";
import { createKeptTraining } from "../lora/checkpoints/kept-training.js";
import { registerTraining } from "../training.js";
import { SWEEP } from "./checkpoint.js";
import type { SweepJobRequest } from "./resolve.js";

/** Several LoRA trainings on the same windows, the best of which becomes an adapter; from the start, or from where one stopped. */
export const createSweep = (deps: KindDeps): Kind<SweepJobRequest, SweepTask, SweepResult> => {
  const kept = createKeptTraining(deps, SWEEP);

  return {
    reserves: ({ adapter_id }) => adapter_id,
    prepare: (job, signal) => {
      const { resume_from: resumeFrom = null, ...decided } = job.request;
      const { metadata: _kept, keep_harmful: _rule, session_id: _first, ...rest } = decided;
      return kept.prepare(job, signal, async ({ staged, files }): Promise<SweepTask> => {
        const checkpoint = await kept.begin({ jobId: job.job_id, request: decided, resumeFrom });
        return { type: "train_sweep", job_id: job.job_id, spec: { ...rest, ...files, ...staged, checkpoint } };
      });
    },
    run: onRunner,
    finish: async (done) => {
      const { best, trials } = done.result.sweep;
      if (best === null || trials.length !== done.job.request.trials.length)
        throw new ImprintError("WORKER_PROTOCOL", "The trainer chose none of the trials that it was given.");
      await registerTraining(done, { method: "lora" }, deps);
    },
    discard: kept.discard,
    shows: ({ adapter_id }, { proof, sweep }) => ({ adapter_id, proof, result: sweep }),
  };
};
