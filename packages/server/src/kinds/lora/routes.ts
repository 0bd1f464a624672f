import { TrainLoraRequest } from "@imprint/contracts";
import { checkTurns } from "../../routes/train/check-turns.js";
import type { App, Services } from "../../services.js";
import { fallbackName } from "../../training/base-model.js";
import { startJob } from "../start.js";
import { startResponse } from "../start-response.js";
import { resolveLora } from "./resolve.js";
import { resolveResume } from "./resume.js";
import { salvageRoute } from "./salvage.js";

export const loraRoutes = (app: App, services: Services): void => {
  const defaults = { baseModel: fallbackName(services.workshop.models), random: services.random };
  app.post(
    "/train/lora",
    {
      schema: {
        tags: ["train"],
        summary: "Train a LoRA adapter on one or several sessions",
        body: TrainLoraRequest,
        response: startResponse,
      },
    },
    async (request) => {
      const { resume_from, ...body } = request.body;
      if (resume_from !== undefined)
        return startJob(request, { kind: "lora", request: await resolveResume({ ...body, resume_from }, services) }, services);
      checkTurns(body);
      return startJob(request, { kind: "lora", request: resolveLora(body, defaults) }, services);
    },
  );
  salvageRoute(app, services);
};
