import { BaseModelList } from "@imprint/contracts";
import { Type } from "typebox";
import type { App } from "../http/app.js";
import { answer, noContent, problems } from "../http/schemas.js";
import type { KindDeps } from "../kinds/deps.js";
import { listBaseModels, removeBaseModel } from "../models/stored.js";

interface Deps {
  readonly deps: Pick<KindDeps, "models">;
}

/** The base models that are here or known; `imprint models pull` fetches one. */
export const baseModelRoutes = (app: App, { deps: { models } }: Deps): void => {
  app.get(
    "/models",
    {
      schema: {
        tags: ["models"],
        summary: "The base models that are here, and those that the catalogue knows",
        response: { 200: answer("The base models", BaseModelList) },
      },
    },
    async () => ({ models: [...listBaseModels(models)] }),
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
      removeBaseModel(name, models);
      return reply.code(204).send();
    },
  );
};
