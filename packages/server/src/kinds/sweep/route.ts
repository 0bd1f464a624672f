import { TrainSweepRequest } from "@imprint/contracts";
import { fallbackName } from "../../models/base-model.js";
import type { App, Services } from "../../services.js";
import { checkHoldout, checkTurns } from "../lora/check-request.js";
import { requireKept } from "../lora/checkpoints/require.js";
import { renamed } from "../lora/resolve.js";
import { checkResumeFields } from "../lora/resume.js";
import { requireBaseModel, withBaseModel } from "../require-base-model.js";
import { sessionIdsOf } from "../resolve.js";
import { startJob } from "../start.js";
import { startBody } from "../start-body.js";
import { startResponse } from "../start-response.js";
import { requestOfSweep } from "./checkpoint.js";
import { resolveSweep, type SweepJobRequest } from "./resolve.js";

export const sweepRoute = (app: App, services: Services): void => {
  const { models } = services.workshop;
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
