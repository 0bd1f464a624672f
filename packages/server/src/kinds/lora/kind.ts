import type { CheckpointSpec, JobResult, LoraTask } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";
import type { Job } from "../../jobs/job.js";
import type { Kind } from "../../jobs/kind.js";
import { onRunner } from "../../jobs/on-runner.js";
import { reference } from "../../runners/reference.js";
import type { KindDeps } from "../deps.js";
import type { LoraJobRequest } from "../resolve.js";
import { registerTraining, showsTraining } from "../training.js";
import { LORA } from "./checkpoints/folder.js";
import { createKeptTraining } from "./checkpoints/kept-training.js";
import { recordSpeed } from "./estimate.js";

type LoraJob = Job<LoraJobRequest>;

/** A LoRA training, from the start, from another job's checkpoint, or the salvage of one. */
export const createLora = (deps: KindDeps): Kind<LoraJobRequest, LoraTask, JobResult> => {
  const kept = createKeptTraining(deps, LORA);

  const checkpointOf = async ({ job_id, request }: LoraJob): Promise<CheckpointSpec> => {
    const { resume_from: resumeFrom = null, salvage_of: salvageOf, ...decided } = request;
    if (salvageOf !== undefined)
      return { dir: reference("checkpoints", salvageOf), seconds: deps.checkpointSeconds, start: "salvage" };
    return kept.begin({ jobId: job_id, request: decided, resumeFrom });
  };

  return {
    reserves: ({ adapter_id }) => adapter_id,
    prepare: (job, signal) => {
      const {
        metadata: _kept,
        keep_harmful: _rule,
        session_id: _first,
        resume_from: _from,
        salvage_of: _of,
        ...rest
      } = job.request;
      return kept.prepare(job, signal, async ({ staged, files }): Promise<LoraTask> => {
        const spec = { ...rest, ...files, ...staged, checkpoint: await checkpointOf(job) };
        return { type: "train_lora", job_id: job.job_id, spec };
      });
    },
    run: onRunner,
    finish: async (done) => {
      const { request, progress } = done.job;
      if ((request.salvage_of !== undefined) !== (done.result.partial !== undefined))
        throw new ImprintError("WORKER_PROTOCOL", "The trainer and the service disagree on whether the adapter is partial.");
      const { base_model, quantization } = request;
      const { tokens_per_second } = progress ?? { tokens_per_second: 0 };
      await registerTraining(
        done,
        {
          method: "lora",
          beforeCommit: async (db) => {
            if (tokens_per_second > 0) await recordSpeed(db, { base_model, quantization, tokens_per_second });
          },
        },
        deps,
      );
    },
    discard: kept.discard,
    shows: showsTraining,
  };
};
