import { Model, ModelList } from "@imprint/contracts";
import { Type } from "typebox";
import { unknownModel } from "../conversation/locate.js";
import { answer } from "../http/schemas.js";
import { type BaseModels, contextLength, fallbackName, preparedModels } from "../models/base-model.js";
import { type AdapterRow, findAdapter, listAdapters } from "../registry/adapters.js";
import type { App, Services } from "../services.js";
import { inTransaction } from "../storage/transaction.js";
import { seconds } from "./pages.js";

const MAX_ADAPTERS = 1000;

/** Tools are offered in words where the base model's chat template has no place for them. */
const CAPABILITIES: Model["capabilities"] = ["chat", "tools"];

/** How a base model and its adapters are shown; what the files say is read once for each base. */
const shower = (models: BaseModels) => {
  const bases = new Set([fallbackName(models), ...preparedModels(models)]);
  const lengths = new Map<string, number | null>();
  const model = (id: string, base: string, rest: Pick<Model, "created" | "owned_by">): Model => {
    if (!lengths.has(base)) lengths.set(base, bases.has(base) ? contextLength(base, models) : null);
    return { id, object: "model", ...rest, context_length: lengths.get(base) ?? null, capabilities: CAPABILITIES };
  };
  return {
    bases,
    base: (name: string): Model => model(name, name, { created: 0, owned_by: "base" }),
    adapter: ({ adapter_id, created_at, base_model }: AdapterRow): Model =>
      model(adapter_id, base_model, { created: seconds(created_at), owned_by: "imprint" }),
  };
};

/** `GET /v1/models`: the prepared base models, and the newest adapters; `GET /v1/models/ID`: one of them, or an older adapter. */
export const modelsRoute = (app: App, { workshop }: Pick<Services, "workshop">): void => {
  app.get(
    "/v1/models",
    {
      schema: { tags: ["chat"], summary: "Base models and adapters", response: { 200: answer("The models", ModelList) } },
    },
    async () => {
      const { adapters } = await inTransaction(workshop.database, (db) => listAdapters(db, { filter: {}, limit: MAX_ADAPTERS }));
      const shown = shower(workshop.models);
      return { object: "list", data: [...[...shown.bases].map(shown.base), ...adapters.map(shown.adapter)] } as const;
    },
  );

  app.get(
    "/v1/models/:model",
    {
      schema: {
        tags: ["chat"],
        summary: "A base model or an adapter",
        params: Type.Object({ model: Type.String() }),
        response: { 200: answer("The model", Model) },
      },
    },
    async ({ params: { model } }) => {
      const adapter = await inTransaction(workshop.database, (db) => findAdapter(db, model));
      const shown = shower(workshop.models);
      if (adapter) return shown.adapter(adapter);
      if (shown.bases.has(model)) return shown.base(model);
      throw unknownModel(model);
    },
  );
};
