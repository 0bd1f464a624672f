import { type BaseModelEntry, BaseModelList, isObject, PullRequest, StartResponse } from "@imprint/contracts";
import { Type } from "typebox";
import type { ChatEngineName } from "../chat/choose.js";
import { ImprintError } from "../common/error.js";
import type { App } from "../http/app.js";
import { answer, noContent, problems, QUEUED } from "../http/schemas.js";
import type { KindDeps } from "../kinds/deps.js";
import { type LaunchDeps, ofField, startJob } from "../launch/start.js";
import { locateBaseModel } from "../models/base-model.js";
import { listBaseModels, removeBaseModel, requireKnown } from "../models/stored.js";

interface Deps extends LaunchDeps {
  readonly deps: Pick<KindDeps, "models" | "run">;
  readonly engineOf: (type: string | null) => ChatEngineName;
}

type Training = BaseModelEntry["training"];

/** The base models that are here or known, and the pull that fetches one. */
export const baseModelRoutes = (app: App, services: Deps): void => {
  const { models, run } = services.deps;

  /** What a training takes of this machine as it is now; nothing where the trainer does not say. */
  const trainingsOf = async (names: readonly string[]): Promise<readonly Training[]> => {
    const folders = names.map((name) => locateBaseModel(name, models).location);
    const { trainings } = await run(["models", "fits", ...folders]).catch(() => ({ trainings: [] }));
    return Array.isArray(trainings) ? trainings.map((one) => (isObject(one) ? (one as Training) : null)) : [];
  };

  app.get(
    "/models",
    {
      schema: {
        tags: ["models"],
        summary: "The base models that are here, and those that the catalogue knows",
        response: { 200: answer("The base models", BaseModelList) },
      },
    },
    async () => {
      const listed = listBaseModels(models, services.engineOf);
      const trainings = await trainingsOf(listed.filter(({ here }) => here).map(({ name }) => name));
      // Those that are here come first.
      return { models: listed.map((one, at) => ({ ...one, training: trainings[at] ?? null })) };
    },
  );

  app.post(
    "/models",
    {
      schema: {
        tags: ["models"],
        summary: "Pull a base model as a job of its own; one of the catalogue that is there already completes at once",
        body: PullRequest,
        response: { 202: answer("The job is queued", StartResponse), ...problems("BASE_MODEL_NOT_FOUND", ...QUEUED) },
      },
    },
    async (request, reply) => {
      const { name } = request.body;
      ofField("name", () => requireKnown(name, models));
      const start = { kind: "pull", request: { base_model: name } } as const;
      return reply.code(202).send(await startJob(request, start, services));
    },
  );

  app.delete(
    "/models/:name",
    {
      schema: {
        tags: ["models"],
        summary: "Remove a base model from the data directory or the hub's cache; a linked folder stays",
        params: Type.Object({ name: Type.String() }),
        response: { 204: noContent("Removed"), ...problems("BASE_MODEL_NOT_FOUND", "BASE_MODEL_IN_USE") },
      },
    },
    async ({ params: { name } }, reply) => {
      const { jobs: running } = services.jobs.list({ status: "running", limit: Number.MAX_SAFE_INTEGER });
      if (running.some(({ kind, request }) => kind === "pull" && request.base_model === name))
        throw new ImprintError("BASE_MODEL_IN_USE", `${name} is being pulled: cancel that job first.`);
      ofField("name", () => removeBaseModel(name, models));
      return reply.code(204).send();
    },
  );
};
