import { StartResponse, TrainHypernetworkRequest, TrainLoraRequest } from "@imprint/contracts";
import { answer, problems } from "../../http/schemas.js";
import type { App, Services } from "../../services.js";
import { fallbackName } from "../../training/base-model.js";
import { resolveHypernetwork, resolveLora } from "../../training/resolve.js";
import { checkTurns } from "./check-turns.js";
import { resolveResume } from "./resume.js";
import { startJob } from "./start.js";

const refusals = problems(
  "MALFORMED_JSON",
  "ADAPTER_ID_TAKEN",
  "JOB_NOT_FINISHED",
  "CHECKPOINT_NOT_FOUND",
  "CHECKPOINT_INVALID",
  "IDEMPOTENCY_CONFLICT",
  "BODY_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "VALIDATION_FAILED",
  "QUEUE_FULL",
  "SHUTTING_DOWN",
);

const unused = (ids: readonly string[]): readonly string[] =>
  ids.length === 0 ? [] : [`Only the first trajectory is used; not used: ${ids.join(", ")}.`];

export const trainRoutes = (app: App, services: Services): void => {
  const defaults = { baseModel: fallbackName(services.workshop.models), random: services.random };
  const response = { 200: answer("The job is queued", StartResponse), ...refusals };

  app.post(
    "/train/lora",
    { schema: { tags: ["train"], summary: "Train a LoRA adapter on one or several sessions", body: TrainLoraRequest, response } },
    async (request) => {
      const { body } = request;
      if (body.resume_from !== undefined)
        return startJob(
          request,
          { resolved: await resolveResume({ ...body, resume_from: body.resume_from }, services) },
          services,
        );
      checkTurns(body);
      return startJob(request, { resolved: { kind: "lora", request: resolveLora(body, defaults), origin: null } }, services);
    },
  );

  app.post(
    "/train/hypernetwork",
    {
      schema: {
        tags: ["train"],
        summary: "Generate an adapter in one pass of a hypernetwork",
        body: TrainHypernetworkRequest,
        response,
      },
    },
    async (request) => {
      const resolved = { kind: "hypernetwork", request: resolveHypernetwork(request.body, defaults) } as const;
      return startJob(request, { resolved, warnings: unused(request.body.trajectory_ids.slice(1)) }, services);
    },
  );
};
