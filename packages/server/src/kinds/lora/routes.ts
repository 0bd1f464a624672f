import { TrainLoraRequest } from "@imprint/contracts";
import { fallbackName } from "../../models/base-model.js";
import type { App, Services } from "../../services.js";
import { withBaseModel } from "../require-base-model.js";
import { sessionIdsOf } from "../resolve.js";
import { startJob } from "../start.js";
import { startBody } from "../start-body.js";
import { startResponse } from "../start-response.js";
import { checkHoldout, checkTurns } from "./check-request.js";
import { resolveLora } from "./resolve.js";
import { resolveResume } from "./resume.js";
import { salvageRoute } from "./salvage.js";

export const loraRoutes = (app: App, services: Services): void => {
  const defaults = { baseModel: fallbackName(services.workshop.models), random: services.random };
  const { models } = services.workshop;
  const { body, validatorCompiler } = startBody(TrainLoraRequest);
  app.post(
    "/train/lora",
    {
      validatorCompiler,
      schema: {
        tags: ["train"],
        summary: "Train a LoRA adapter on one or several sessions",
        body,
        response: startResponse,
      },
    },
    async (request) => {
      const { resume_from, ...fresh } = request.body;
      if (resume_from !== undefined)
        return startJob(request, { kind: "lora", request: await resolveResume({ ...fresh, resume_from }, services) }, services);
      checkTurns(fresh);
      checkHoldout(fresh.holdout, sessionIdsOf(fresh));
      return startJob(request, { kind: "lora", request: resolveLora(withBaseModel(fresh, models), defaults) }, services);
    },
  );
  salvageRoute(app, services);
};
