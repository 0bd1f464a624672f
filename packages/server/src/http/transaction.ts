import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Database, Transaction } from "../storage/schema.js";
import { createLazyTransaction, type LazyTransaction } from "../storage/transaction.js";

declare module "fastify" {
  interface FastifyRequest {
    lazyTransaction: LazyTransaction | null;
    /** The request's transaction, begun at the first call; it is committed before the answer is sent, or not at all. */
    db(): Promise<Transaction>;
    /** Runs once the request's transaction is committed. */
    afterCommit(action: () => Promise<void>): void;
  }
}

/** A database session per request, for handlers that ask for one; those that do not ask open none. */
export const addTransactions = (app: FastifyInstance, { database }: { readonly database: Database }): void => {
  const unitOf = (request: FastifyRequest): LazyTransaction => {
    request.lazyTransaction ??= createLazyTransaction(database);
    return request.lazyTransaction;
  };
  app.decorateRequest("lazyTransaction", null);
  app.decorateRequest("db", function db(this: FastifyRequest) {
    return unitOf(this).db();
  });
  app.decorateRequest("afterCommit", function afterCommit(this: FastifyRequest, action: () => Promise<void>) {
    unitOf(this).afterCommit(action);
  });

  // A commit that fails here becomes the answer: nothing was sent yet.
  app.addHook("onSend", async (request, reply, payload) => {
    if (reply.statusCode < 400) await request.lazyTransaction?.commit();
    else await request.lazyTransaction?.rollback();
    return payload;
  });
  app.addHook("onError", async (request) => request.lazyTransaction?.rollback());
  app.addHook("onRequestAbort", async (request) => request.lazyTransaction?.rollback());
  app.addHook("onTimeout", async (request) => request.lazyTransaction?.rollback());
};
