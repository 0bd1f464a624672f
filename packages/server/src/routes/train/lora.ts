import { TrainLoraRequest } from "@imprint/contracts";
import type { App } from "../../http/app.js";
import { startBody, startResponse } from "../../http/schemas.js";
import type { KindDeps } from "../../kinds/deps.js";
import { type Randomness, resolveLora, sessionIdsOf } from "../../kinds/resolve.js";
import { checkHoldout, checkTurns, type LaunchDeps, resolveResume, startJob, withBaseModel } from "../../launch/start.js";
import { fallbackName } from "../../models/base-model.js";

interface Deps extends LaunchDeps {
  readonly deps: KindDeps;
  readonly random: Randomness;
}

export const loraRoutes = (app: App, services: Deps): void => {
  const defaults = { baseModel: fallbackName(services.deps.models), random: services.random };
  const { models } = services.deps;
  const { body, validatorCompiler } = startBody(TrainLoraRequest);
  app.post(
    "/train/lora",
    {
      validatorCompiler,
      schema: { tags: ["train"], summary: "Train a LoRA adapter on one or several sessions", body, response: startResponse },
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
};
