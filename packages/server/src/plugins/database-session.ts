import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Database, Session } from "../registry/schema.js";
import { createUnitOfWork, type UnitOfWork } from "../registry/unit-of-work.js";

declare module "fastify" {
  interface FastifyRequest {
    unitOfWork: UnitOfWork | null;
    /** The request's transaction, begun at the first call; it is committed before the answer is sent, or not at all. */
    db(): Promise<Session>;
    /** Runs once the request's transaction is committed. */
    afterCommit(action: () => Promise<void>): void;
  }
}

/** A database session per request, for handlers that ask for one; those that do not ask open none. */
export const addDatabaseSession = (app: FastifyInstance, { database }: { readonly database: Database }): void => {
  const unitOf = (request: FastifyRequest): UnitOfWork => {
    request.unitOfWork ??= createUnitOfWork(database);
    return request.unitOfWork;
  };
  app.decorateRequest("unitOfWork", null);
  app.decorateRequest("db", function db(this: FastifyRequest) {
    return unitOf(this).session();
  });
  app.decorateRequest("afterCommit", function afterCommit(this: FastifyRequest, action: () => Promise<void>) {
    unitOf(this).afterCommit(action);
  });

  // A commit that fails here becomes the answer: nothing was sent yet.
  app.addHook("onSend", async (request, reply, payload) => {
    if (reply.statusCode < 400) await request.unitOfWork?.commit();
    else await request.unitOfWork?.rollback();
    return payload;
  });
  app.addHook("onError", async (request) => request.unitOfWork?.rollback());
  app.addHook("onRequestAbort", async (request) => request.unitOfWork?.rollback());
  app.addHook("onTimeout", async (request) => request.unitOfWork?.rollback());
};
