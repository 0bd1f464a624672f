import { TrainHypernetworkRequest } from "@imprint/contracts";
import type { App } from "../../http/app.js";
import { startBody, startResponse } from "../../http/schemas.js";
import type { KindDeps } from "../../kinds/deps.js";
import { type Randomness, resolveHypernetwork } from "../../kinds/resolve.js";
import { type LaunchDeps, startJob, withBaseModel } from "../../launch/start.js";
import { fallbackName } from "../../models/base-model.js";

interface Deps extends LaunchDeps {
  readonly deps: KindDeps;
  readonly random: Randomness;
}

const unused = (ids: readonly string[]): readonly string[] =>
  ids.length === 0 ? [] : [`Only the first trajectory is used; not used: ${ids.join(", ")}.`];

export const hypernetworkRoute = (app: App, services: Deps): void => {
  const defaults = { baseModel: fallbackName(services.deps.models), random: services.random };
  const { body, validatorCompiler } = startBody(TrainHypernetworkRequest);
  app.post(
    "/train/hypernetwork",
    {
      validatorCompiler,
      schema: { tags: ["train"], summary: "Generate an adapter in one pass of a hypernetwork", body, response: startResponse },
    },
    async (request) => {
      const resolved = resolveHypernetwork(withBaseModel(request.body, services.deps.models), defaults);
      const warnings = unused(request.body.trajectory_ids.slice(1));
      return startJob(request, { kind: "hypernetwork", request: resolved, warnings }, services);
    },
  );
};
