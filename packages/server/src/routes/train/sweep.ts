import { TrainSweepRequest } from "@imprint/contracts";
import type { App } from "../../http/app.js";
import { startBody, startResponse } from "../../http/schemas.js";
import type { KindDeps } from "../../kinds/deps.js";
import { requireKept } from "../../kinds/lora/checkpoints/folder.js";
import { type Randomness, renamed, sessionIdsOf } from "../../kinds/resolve.js";
import { requestOfSweep } from "../../kinds/sweep/checkpoint.js";
import { resolveSweep, type SweepJobRequest } from "../../kinds/sweep/resolve.js";
import {
  checkHoldout,
  checkResumeFields,
  checkTurns,
  type LaunchDeps,
  requireBaseModel,
  startJob,
  withBaseModel,
} from "../../launch/start.js";
import { fallbackName } from "../../models/base-model.js";

interface Deps extends LaunchDeps {
  readonly deps: KindDeps;
  readonly random: Randomness;
}

export const sweepRoute = (app: App, services: Deps): void => {
  const { models } = services.deps;
  const defaults = { baseModel: fallbackName(models), random: services.random };
  const { body, validatorCompiler } = startBody(TrainSweepRequest);

  const resumed = async (request: TrainSweepRequest, resume_from: string): Promise<SweepJobRequest> => {
    checkResumeFields(request);
    const kept = await requireKept(resume_from, services, requestOfSweep);
    requireBaseModel(kept.base_model, models);
    return { ...renamed(kept, request), resume_from };
  };

  app.post(
    "/train/sweep",
    {
      validatorCompiler,
      schema: {
        tags: ["train"],
        summary: "Train with several settings on the same sessions, and register what does best on held-out text",
        body,
        response: startResponse,
      },
    },
    async (request) => {
      const { resume_from } = request.body;
      if (resume_from !== undefined)
        return startJob(request, { kind: "sweep", request: await resumed(request.body, resume_from) }, services);
      const sessionIds = sessionIdsOf(request.body);
      checkTurns(request.body);
      checkHoldout(request.body.holdout, sessionIds);
      return startJob(request, { kind: "sweep", request: resolveSweep(withBaseModel(request.body, models), defaults) }, services);
    },
  );
};
