import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import type { EvaluateTask, EvaluationResult } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";
import type { Job } from "../../jobs/job.js";
import type { Kind } from "../../jobs/kind.js";
import { onRunner } from "../../jobs/on-runner.js";
import { locateBaseModel } from "../../models/base-model.js";
import { attachEvaluation, checkEvaluation } from "../../registry/evaluation.js";
import { requireWhole } from "../../registry/health.js";
import { requireAdapter } from "../../registry/require-adapter.js";
import { InvalidAdapterError } from "../../registry/validate/invalid.js";
import { reference } from "../../runners/reference.js";
import type { KindDeps } from "../deps.js";
import { removeStaging, stagingOf } from "../training.js";
import { cleanUpMeasurements } from "./measurements.js";

const OUTPUT = "evaluation";

/** A request with its sessions chosen. */
export type EvaluationJobRequest = {
  readonly adapter_id: string;
  readonly base_model: string;
  readonly session_ids: readonly string[];
  readonly trained_on: readonly string[];
  readonly control_adapter_id: string | null;
  readonly actions: number;
  readonly seed: number;
};

type StagedSessions = EvaluateTask["spec"]["sessions"];

/** The evaluation of a registered adapter on sessions that it was not trained on. */
export const createEvaluation = (deps: KindDeps): Kind<EvaluationJobRequest, EvaluateTask, EvaluationResult> => {
  const { database, paths, sessions, models, now } = deps;

  /** Asked again at every step: it may have been archived while the job waited or ran. */
  const wholeAdapter = async (adapterId: string) => {
    const adapter = await requireAdapter(database, adapterId);
    await requireWhole(deps, adapter);
    return adapter;
  };

  /** Copies sessions into folders of the job's staging folder. */
  const stage = async (job: Job, part: "tested" | "trained", sessionIds: readonly string[]): Promise<StagedSessions> => {
    const staged: StagedSessions = [];
    for (const [at, session_id] of sessionIds.entries()) {
      const place = `${part}/${at}`;
      try {
        const folder = join(stagingOf(paths, job), place);
        const { session_paths } = await sessions.stage({ sessionIds: [session_id], folder, skipInvalid: false });
        staged.push({ session_id, path: reference("staging", `${job.job_id}/${place}/${basename(session_paths[0])}`) });
      } catch (error) {
        // What was trained on need not be there any more.
        if (part === "tested" || !(error instanceof ImprintError)) throw error;
      }
    }
    return staged;
  };

  return {
    reserves: () => null, // its adapter is registered already
    prepare: async (job, signal) => {
      const { adapter_id, control_adapter_id, session_ids, trained_on, actions, seed } = job.request;
      const { base_model } = await wholeAdapter(adapter_id);
      if (control_adapter_id !== null) await wholeAdapter(control_adapter_id);
      const { name } = locateBaseModel(base_model, models);
      try {
        const tested = await stage(job, "tested", session_ids);
        signal.throwIfAborted();
        const trained = await stage(job, "trained", trained_on);
        await mkdir(join(stagingOf(paths, job), OUTPUT), { mode: 0o700 });
        return {
          type: "evaluate",
          job_id: job.job_id,
          spec: {
            adapter_id,
            adapter_path: reference("adapters", adapter_id),
            base_model: reference("models", name),
            base_model_name: name,
            sessions: tested,
            trained_on: trained,
            control:
              control_adapter_id === null
                ? null
                : { adapter_id: control_adapter_id, path: reference("adapters", control_adapter_id) },
            actions,
            seed,
            cache_dir: reference("measurements"),
            output_dir: reference("staging", `${job.job_id}/${OUTPUT}`),
          },
        };
      } catch (error) {
        await removeStaging(paths, job);
        throw error;
      }
    },
    run: onRunner,
    finish: async ({ job, result, signal }) => {
      const { adapter_id: adapterId } = job.request;
      const folder = join(stagingOf(paths, job), OUTPUT);
      try {
        await checkEvaluation(folder, await requireAdapter(database, adapterId), result);
      } catch (error) {
        if (!(error instanceof InvalidAdapterError)) throw error;
        throw new ImprintError("TRAINER_ERROR", `The evaluation was refused: ${error.message}.`, { cause: error });
      }
      await attachEvaluation({ database, paths, adapterId, folder, beforeCommit: () => signal.throwIfAborted() });
    },
    discard: async (job) => {
      await removeStaging(paths, job);
      await cleanUpMeasurements({ folder: paths.measurements, now: now().getTime() });
    },
    shows: ({ adapter_id }, { evaluation }) => ({ adapter_id, proof: null, result: evaluation }),
  };
};
