import { type Model, ModelList } from "@imprint/contracts";
import { answer } from "../http/schemas.js";
import { contextLength, fallbackName, preparedModels } from "../models/base-model.js";
import { listAdapters } from "../registry/adapters.js";
import { FROM_SERVICE, type Served, type ServedModel } from "../runners/served.js";
import type { App, Services } from "../services.js";
import { inTransaction } from "../storage/transaction.js";
import { seconds } from "./pages.js";

const MAX_ADAPTERS = 1000;

interface Of {
  readonly base: string;
  readonly created: number;
  readonly owned_by: string;
}

/** Tools are offered in words where the base model's chat template has no place for them. */
const CAPABILITIES: Model["capabilities"] = ["chat", "tools"];

/** What is away is no failure of the list. */
const listed = (upstream: Served | null): Promise<readonly ServedModel[]> =>
  upstream === null ? Promise.resolve([]) : upstream.models().catch(() => []);

/** `GET /v1/models`: the prepared base models, the newest adapters, and what the upstream serves besides. */
export const modelsRoute = (app: App, { workshop, upstream }: Pick<Services, "workshop" | "upstream">): void => {
  app.get(
    "/v1/models",
    {
      schema: {
        tags: ["chat"],
        summary: "Base models, adapters, and the models of the upstream",
        response: { 200: answer("The models", ModelList) },
      },
    },
    async ({ headers }) => {
      const { adapters } = await inTransaction(workshop.database, (db) => listAdapters(db, { filter: {}, limit: MAX_ADAPTERS }));
      const bases = new Set([fallbackName(workshop.models), ...preparedModels(workshop.models)]);
      const lengths = new Map([...bases].map((name) => [name, contextLength(name, workshop.models)]));
      const model = (id: string, { base, created, owned_by }: Of): Model => ({
        id,
        object: "model",
        created,
        owned_by,
        context_length: lengths.get(base) ?? null,
        capabilities: CAPABILITIES,
      });
      const own = [
        ...[...bases].map((name) => model(name, { base: name, created: 0, owned_by: "base" })),
        ...adapters.map(({ adapter_id, created_at, base_model: base }) =>
          model(adapter_id, { base, created: seconds(created_at), owned_by: "imprint" }),
        ),
      ];
      const names = new Set(own.map(({ id }) => id));
      // A service that asks is told of what is here: two that name each other as upstream would ask for ever.
      const served = await listed(headers[FROM_SERVICE] === undefined ? upstream : null);
      const others = served
        .filter(({ id }) => !names.has(id))
        .map(
          ({ id, created, owned_by, context_length }): Model => ({
            id,
            object: "model",
            created,
            owned_by,
            context_length,
            capabilities: CAPABILITIES,
          }),
        );
      return { object: "list", data: [...own, ...others] } as const;
    },
  );
};
