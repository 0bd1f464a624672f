import { Model, ModelList } from "@imprint/contracts";
import { Type } from "typebox";
import { unknownModel } from "../../chat/service.js";
import type { App } from "../../http/app.js";
import { answer } from "../../http/schemas.js";
import type { KindDeps } from "../../kinds/deps.js";
import { type BaseModels, contextLength, fallbackName, preparedModels } from "../../models/base-model.js";
import { type AdapterRow, findAdapter, listAdapters } from "../../registry/adapters.js";
import { listAliases } from "../../registry/aliases.js";
import { findNamed } from "../../registry/require-adapter.js";
import { FROM_SERVICE, type Served, type ServedModel } from "../../runners/served.js";
import type { Transaction } from "../../storage/schema.js";
import { inTransaction } from "../../storage/transaction.js";
import { epochSeconds } from "../answer-stream.js";

interface Deps {
  readonly deps: KindDeps;
  readonly upstream: Served | null;
}

const MAX_ADAPTERS = 1000;

/** Tools are offered in words where the base model's chat template has no place for them. */
const CAPABILITIES: Model["capabilities"] = ["chat", "tools"];

/** Presents base models and adapters; what the files say is read once for each base. */
const createPresenter = (models: BaseModels) => {
  const bases = new Set([fallbackName(models), ...preparedModels(models)]);
  const lengths = new Map<string, number | null>();
  const model = (id: string, base: string, rest: Pick<Model, "created" | "owned_by">): Model => {
    if (!lengths.has(base)) lengths.set(base, bases.has(base) ? contextLength(base, models) : null);
    return { id, object: "model", ...rest, context_length: lengths.get(base) ?? null, capabilities: CAPABILITIES };
  };
  return {
    bases,
    base: (name: string): Model => model(name, name, { created: 0, owned_by: "base" }),
    adapter: ({ created_at, base_model }: AdapterRow, name: string): Model =>
      model(name, base_model, { created: epochSeconds(new Date(created_at)), owned_by: "imprint" }),
    served: ({ id, created, owned_by, context_length }: ServedModel): Model => ({
      ...{ id, object: "model", created, owned_by, context_length },
      capabilities: CAPABILITIES,
    }),
  };
};

/** Names that mean an adapter now, with that adapter. */
const aliased = async (db: Transaction) => {
  const found: { readonly alias: string; readonly adapter: AdapterRow }[] = [];
  for (const { alias, adapter_id } of await listAliases(db)) {
    const adapter = await findAdapter(db, adapter_id);
    if (adapter) found.push({ alias, adapter });
  }
  return found;
};

/** What is away is no failure of the list. */
const listed = (upstream: Served | null): Promise<readonly ServedModel[]> =>
  upstream === null ? Promise.resolve([]) : upstream.models().catch(() => []);

/**
 * `GET /v1/models`: the prepared base models, the latest of projects, the newest adapters, and what the upstream serves besides;
 * `GET /v1/models/ID`: one of them, or an older adapter.
 */
export const modelsRoutes = (app: App, { deps, upstream }: Deps): void => {
  // A service that asks is told of what is here: two that name each other as upstream would ask for ever.
  const toAsk = (headers: Readonly<Record<string, unknown>>): Served | null =>
    headers[FROM_SERVICE] === undefined ? upstream : null;

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
      const { adapters, aliases } = await inTransaction(deps.database, async (db) => ({
        aliases: await aliased(db),
        ...(await listAdapters(db, { filter: {}, limit: MAX_ADAPTERS })),
      }));
      const present = createPresenter(deps.models);
      const own = [
        ...[...present.bases].map(present.base),
        ...aliases.map(({ alias, adapter }) => present.adapter(adapter, alias)),
        ...adapters.map((adapter) => present.adapter(adapter, adapter.adapter_id)),
      ];
      const names = new Set(own.map(({ id }) => id));
      const others = (await listed(toAsk(headers))).filter(({ id }) => !names.has(id)).map(present.served);
      return { object: "list", data: [...own, ...others] } as const;
    },
  );

  app.get(
    "/v1/models/:model",
    {
      schema: {
        tags: ["chat"],
        summary: "A base model, an adapter, or a model of the upstream",
        params: Type.Object({ model: Type.String() }),
        response: { 200: answer("The model", Model) },
      },
    },
    async ({ params: { model }, headers }) => {
      const adapter = await findNamed(deps.database, model);
      const present = createPresenter(deps.models);
      if (adapter) return present.adapter(adapter, model);
      if (present.bases.has(model)) return present.base(model);
      const served = (await listed(toAsk(headers))).find(({ id }) => id === model);
      if (served) return present.served(served);
      throw unknownModel(model, upstream);
    },
  );
};
