import { TrainHypernetworkRequest } from "@imprint/contracts";
import { fallbackName } from "../../models/base-model.js";
import type { App, Services } from "../../services.js";
import { withBaseModel } from "../require-base-model.js";
import { startJob } from "../start.js";
import { startBody } from "../start-body.js";
import { startResponse } from "../start-response.js";
import { resolveHypernetwork } from "./resolve.js";

const unused = (ids: readonly string[]): readonly string[] =>
  ids.length === 0 ? [] : [`Only the first trajectory is used; not used: ${ids.join(", ")}.`];

export const hypernetworkRoute = (app: App, services: Services): void => {
  const defaults = { baseModel: fallbackName(services.workshop.models), random: services.random };
  const { body, validatorCompiler } = startBody(TrainHypernetworkRequest);
  app.post(
    "/train/hypernetwork",
    {
      validatorCompiler,
      schema: {
        tags: ["train"],
        summary: "Generate an adapter in one pass of a hypernetwork",
        body,
        response: startResponse,
      },
    },
    async (request) => {
      const resolved = resolveHypernetwork(withBaseModel(request.body, services.workshop.models), defaults);
      const warnings = unused(request.body.trajectory_ids.slice(1));
      return startJob(request, { kind: "hypernetwork", request: resolved, warnings }, services);
    },
  );
};
