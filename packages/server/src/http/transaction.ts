import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Database, Transaction } from "../storage/schema.js";
import { createLazyTransaction, inTransaction, type LazyTransaction } from "../storage/transaction.js";

declare module "fastify" {
  interface FastifyRequest {
    lazyTransaction: LazyTransaction | null;
    /** The request's transaction, begun at the first call; it is committed before the answer is sent, or not at all. */
    db(): Promise<Transaction>;
    /** Runs work in a transaction of its own. It is committed when this resolves, and rolled back when the request is cancelled. */
    transact<T>(work: (db: Transaction) => Promise<T>): Promise<T>;
    /** Runs once the request's transaction is committed. */
    afterCommit(action: () => Promise<void>): void;
  }
}

/** A database session per request, for handlers that ask for one; those that do not ask open none. Goes after `addDeadlines`. */
export const addTransactions = (app: FastifyInstance, { database }: { readonly database: Database }): void => {
  const begin = (request: FastifyRequest): LazyTransaction => {
    const unit = createLazyTransaction(database);
    const undo = (): void => void unit.rollback().catch((error) => request.log.error({ err: error }, "a rollback failed"));
    request.cancelled.addEventListener("abort", undo, { once: true });
    return unit;
  };
  const unitOf = (request: FastifyRequest): LazyTransaction => {
    request.cancelled.throwIfAborted();
    request.lazyTransaction ??= begin(request);
    return request.lazyTransaction;
  };
  app.decorateRequest("lazyTransaction", null);
  app.decorateRequest("db", async function db(this: FastifyRequest) {
    return unitOf(this).db();
  });
  app.decorateRequest("transact", function transact<T>(this: FastifyRequest, work: (db: Transaction) => Promise<T>) {
    return inTransaction(database, work, this.cancelled);
  });
  app.decorateRequest("afterCommit", function afterCommit(this: FastifyRequest, action: () => Promise<void>) {
    unitOf(this).afterCommit(action);
  });

  // A commit that fails here becomes the answer: nothing was sent yet.
  app.addHook("onSend", async (request, reply, payload) => {
    const unit = request.lazyTransaction;
    if (unit && reply.statusCode < 400) {
      request.cancelled.throwIfAborted();
      await unit.commit();
    } else await unit?.rollback();
    return payload;
  });
  app.addHook("onError", async (request) => request.lazyTransaction?.rollback());
};
