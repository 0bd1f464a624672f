import { Adapter, AdapterId, AdapterList, AdapterSort, Strict } from "@imprint/contracts";
import { matches } from "@imprint/contracts/fields";
import { Type } from "typebox";
import type { ChatService } from "../../chat/service.js";
import type { App } from "../../http/app.js";
import { answer, DEFAULT_LIMIT, idParams, Limit, NoBody, noContent, Prefix, problems, Text } from "../../http/schemas.js";
import type { KindDeps } from "../../kinds/deps.js";
import { archiveAdapter, listAdapters } from "../../registry/adapters.js";
import { eraseAdapters } from "../../registry/clean-up.js";
import { glanceAtAdapter, verifyAdapter } from "../../registry/health.js";
import { adapterNotFound, requireAdapter } from "../../registry/require-adapter.js";
import { inTransaction } from "../../storage/transaction.js";

interface Deps {
  readonly chat: ChatService;
  readonly deps: KindDeps;
}

const params = idParams("adapter_id");
/** A server may have to load the adapter, and the trainer the base model. */
const SERVE_TIMEOUT_MS = 180_000;
const Search = Type.Optional(
  Type.String({
    maxLength: 256,
    description: "Words that the id, the base model, the kind of work or the sessions must hold, all of them.",
  }),
);
const AdapterQuery = Strict({
  ...{ base_model: Text, task_type: Text, session_id: Text, search: Search },
  ...{ prefix: Prefix, limit: Limit, after: Text, sort: Type.Optional(AdapterSort) },
});

export const adapterRoutes = (app: App, { chat, deps }: Deps): void => {
  const { database, paths, now } = deps;

  app.get(
    "/adapters",
    {
      schema: {
        tags: ["adapters"],
        summary: "Registered adapters, newest first unless sorted",
        querystring: AdapterQuery,
        response: { 200: answer("A page of adapters", AdapterList) },
      },
    },
    async (request) => {
      const { limit = DEFAULT_LIMIT, after, sort = "created", ...filter } = request.query;
      const cursor = { sort, ...(after !== undefined && { after }) };
      // Ended before files are looked at: there is one connection.
      const page = await inTransaction(database, (db) => listAdapters(db, { filter, limit, ...cursor }));
      return { adapters: await Promise.all(page.adapters.map((row) => glanceAtAdapter(deps, row))), next: page.next };
    },
  );

  app.get(
    "/adapters/:adapter_id",
    {
      schema: {
        tags: ["adapters"],
        summary: "A registered adapter, its files hashed unless they are as they were the last time",
        params,
        response: { 200: answer("The adapter", Adapter), ...problems("ADAPTER_NOT_FOUND") },
      },
    },
    async (request) => verifyAdapter(deps, await requireAdapter(database, request.params.adapter_id)),
  );

  app.post(
    "/adapters/:adapter_id/verify",
    {
      schema: {
        tags: ["adapters"],
        summary: "Hash an adapter's files again and read their headers again",
        params,
        body: NoBody,
        response: { 200: answer("The adapter with its health", Adapter), ...problems("ADAPTER_NOT_FOUND") },
      },
    },
    async (request) => verifyAdapter(deps, await requireAdapter(database, request.params.adapter_id), { again: true }),
  );

  app.post(
    "/adapters/:adapter_id/serve",
    {
      config: { timeoutMs: SERVE_TIMEOUT_MS },
      schema: {
        tags: ["adapters"],
        summary: "Hand an adapter to what answers its chats, and compare what that says with the proof",
        params,
        body: NoBody,
        response: {
          200: answer("The adapter; `served` is null where the trainer answers", Adapter),
          ...problems(
            "ADAPTER_NOT_FOUND",
            "ADAPTER_INVALID",
            "ADAPTER_NOT_APPLIED",
            "EXPORT_UNSUPPORTED",
            "UPSTREAM_UNREACHABLE",
          ),
        },
      },
    },
    async (request) => {
      const { adapter_id } = await requireAdapter(database, request.params.adapter_id);
      await chat.handOver(adapter_id, request.cancelled);
      return verifyAdapter(deps, await requireAdapter(database, adapter_id));
    },
  );

  app.delete(
    "/adapters/:adapter_id",
    {
      schema: {
        tags: ["adapters"],
        summary: "Archive an adapter; purge removes its files too. Its id stays taken",
        params,
        querystring: Strict({ purge: Type.Optional(Type.Boolean({ default: false })) }),
        response: { 204: noContent("Archived"), ...problems("ADAPTER_NOT_FOUND") },
      },
    },
    async (request, reply) => {
      const { adapter_id: adapterId } = request.params;
      const purge = request.query.purge ?? false;
      const found =
        matches(AdapterId, adapterId) &&
        (await archiveAdapter(await request.db(), { adapterId, at: now().toISOString(), purge }));
      if (!found) throw adapterNotFound(adapterId);
      // The row first: a crash in between leaves files that the next start erases, never a row without files.
      if (purge) request.afterCommit(async () => void (await eraseAdapters(paths, new Set([adapterId]))));
      return reply.code(204).send();
    },
  );
};
