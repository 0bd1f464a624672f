import { ModelList } from "@imprint/contracts";
import { answer } from "../http/schemas.js";
import { fallbackName, preparedModels } from "../models/base-model.js";
import { listAdapters } from "../registry/adapters.js";
import type { App, Services } from "../services.js";
import { inTransaction } from "../storage/transaction.js";

const MAX_ADAPTERS = 1000;

const model = (id: string, created: number, owned_by: string) => ({ id, object: "model", created, owned_by }) as const;

/** `GET /v1/models`: the prepared base models, and the newest adapters. */
export const modelsRoute = (app: App, { workshop }: Pick<Services, "workshop">): void => {
  app.get(
    "/v1/models",
    {
      schema: { tags: ["chat"], summary: "Base models and adapters", response: { 200: answer("The models", ModelList) } },
    },
    async () => {
      const { adapters } = await inTransaction(workshop.database, (db) => listAdapters(db, { filter: {}, limit: MAX_ADAPTERS }));
      const bases = new Set([fallbackName(workshop.models), ...preparedModels(workshop.models)]);
      return {
        object: "list",
        data: [
          ...[...bases].map((name) => model(name, 0, "base")),
          ...adapters.map(({ adapter_id, created_at }) =>
            model(adapter_id, Math.floor(Date.parse(created_at) / 1000), "imprint"),
          ),
        ],
      } as const;
    },
  );
};
