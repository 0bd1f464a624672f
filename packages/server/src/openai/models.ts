import { type Model, ModelList } from "@imprint/contracts";
import { answer } from "../http/schemas.js";
import { contextLength, fallbackName, preparedModels } from "../models/base-model.js";
import { findAdapter, listAdapters } from "../registry/adapters.js";
import { listAliases } from "../registry/aliases.js";
import type { App, Services } from "../services.js";
import type { Transaction } from "../storage/schema.js";
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

/** Names that mean an adapter now, with what it is. */
const aliased = async (db: Transaction) => {
  const found: { readonly alias: string; readonly moved_at: string; readonly base: string }[] = [];
  for (const { alias, adapter_id, moved_at } of await listAliases(db)) {
    const adapter = await findAdapter(db, adapter_id);
    if (adapter) found.push({ alias, moved_at, base: adapter.base_model });
  }
  return found;
};

/** `GET /v1/models`: the prepared base models, the latest of projects, and the newest adapters. */
export const modelsRoute = (app: App, { workshop }: Pick<Services, "workshop">): void => {
  app.get(
    "/v1/models",
    {
      schema: { tags: ["chat"], summary: "Base models and adapters", response: { 200: answer("The models", ModelList) } },
    },
    async () => {
      const { adapters, aliases } = await inTransaction(workshop.database, async (db) => ({
        aliases: await aliased(db),
        ...(await listAdapters(db, { filter: {}, limit: MAX_ADAPTERS })),
      }));
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
      return {
        object: "list",
        data: [
          ...[...bases].map((name) => model(name, { base: name, created: 0, owned_by: "base" })),
          ...aliases.map(({ alias, moved_at, base }) => model(alias, { base, created: seconds(moved_at), owned_by: "imprint" })),
          ...adapters.map(({ adapter_id, created_at, base_model: base }) =>
            model(adapter_id, { base, created: seconds(created_at), owned_by: "imprint" }),
          ),
        ],
      } as const;
    },
  );
};
