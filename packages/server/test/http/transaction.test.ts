import { connect } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import Fastify from "fastify";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { addErrors } from "../../src/http/errors.js";
import { addTransactions } from "../../src/http/transaction.js";
import { openDatabase } from "../../src/storage/open.js";
import type { Transaction } from "../../src/storage/schema.js";
import { makeFolder } from "../support/service.js";

const insert = (session: Transaction, session_id: string) =>
  session.insertInto("sessions").values({ session_id, summary: "{}" }).execute();

const build = () => {
  const database = openDatabase({ path: `${makeFolder()}/registry.db` });
  const app = Fastify({ logger: { level: "silent" } });
  addErrors(app);
  addTransactions(app, { database });
  onTestFinished(async () => {
    await app.close();
    await database.destroy();
  });
  const stored = async () => (await database.selectFrom("sessions").select("session_id").execute()).map((row) => row.session_id);
  return { app, database, stored };
};

test("what a handler wrote is committed before its answer is sent", async () => {
  const { app, database, stored } = build();
  let seenAtSend: string[] = [];
  app.post("/", async (request) => {
    await insert(await request.db(), "kept");
    return {};
  });
  app.addHook("onResponse", async () => {
    seenAtSend = await stored();
  });
  expect((await app.inject({ method: "POST", url: "/" })).statusCode).toBe(200);
  expect(await stored()).toEqual(["kept"]);
  expect(seenAtSend).toEqual(["kept"]);
  expect(await database.selectFrom("sessions").selectAll().execute()).toHaveLength(1);
});

test("a handler that throws after a write leaves no row", async () => {
  const { app, stored } = build();
  app.post("/", async (request) => {
    await insert(await request.db(), "lost");
    throw new Error("after the write");
  });
  expect((await app.inject({ method: "POST", url: "/" })).statusCode).toBe(500);
  expect(await stored()).toEqual([]);
});

test("a handler that answers with an error status leaves no row", async () => {
  const { app, stored } = build();
  app.post("/", async (request, reply) => {
    await insert(await request.db(), "lost");
    return reply.code(409).send({});
  });
  expect((await app.inject({ method: "POST", url: "/" })).statusCode).toBe(409);
  expect(await stored()).toEqual([]);
});

test("a commit that fails is a 500, and no 2xx is sent", async () => {
  const { app, database, stored } = build();
  await sql`create table parent (id integer primary key)`.execute(database);
  await sql`create table child (parent integer references parent (id) deferrable initially deferred)`.execute(database);
  let after = 0;
  app.post("/", async (request) => {
    const session = await request.db();
    await insert(session, "lost");
    await sql`insert into child values (7)`.execute(session);
    request.afterCommit(async () => {
      after += 1;
    });
    return { fine: true };
  });
  const response = await app.inject({ method: "POST", url: "/" });
  expect(response.statusCode).toBe(500);
  expect(response.json()).toMatchObject({ code: "INTERNAL_ERROR" });
  expect(response.body).not.toContain("FOREIGN KEY");
  expect(await stored()).toEqual([]);
  expect(after).toBe(0);
  // The connection is usable again.
  expect((await app.inject({ method: "POST", url: "/" })).statusCode).toBe(500);
});

test("a client that goes away in the middle of a handler rolls its transaction back", async () => {
  const { app, stored } = build();
  let wrote: () => void = () => {};
  const written = new Promise<void>((resolve) => {
    wrote = resolve;
  });
  let ended: (error: unknown) => void = () => {};
  const handlerEnded = new Promise<unknown>((resolve) => {
    ended = resolve;
  });
  let gone: () => void = () => {};
  const aborted = new Promise<void>((resolve) => {
    gone = resolve;
  });
  app.addHook("onRequestAbort", async (_request) => gone());
  app.post("/", async (request) => {
    const session = await request.db();
    await insert(session, "lost");
    wrote();
    await aborted;
    await turn();
    try {
      await insert(session, "lost too");
      ended(null);
    } catch (error) {
      ended(error);
    }
    return {};
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as { port: number };
  const socket = connect(port, "127.0.0.1", () => socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"));
  await written;
  socket.destroy();
  expect(await handlerEnded).toBeInstanceOf(Error);
  expect(await stored()).toEqual([]);
});

test("a handler that takes too long is answered and rolled back", async () => {
  const { app, stored } = build();
  let release: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  app.post("/", { handlerTimeout: 50 }, async (request) => {
    await insert(await request.db(), "lost");
    await gate;
    return {};
  });
  expect((await app.inject({ method: "POST", url: "/" })).statusCode).toBe(500);
  release();
  await turn();
  expect(await stored()).toEqual([]);
});

test("a slow request and a quick one do not write into each other's transaction", async () => {
  const { app, stored } = build();
  let release: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  let began: () => void = () => {};
  const slowBegan = new Promise<void>((resolve) => {
    began = resolve;
  });
  app.post("/slow", async (request) => {
    await insert(await request.db(), "slow");
    began();
    await gate;
    throw new Error("the slow one fails");
  });
  app.post("/quick", async (request) => {
    await insert(await request.db(), "quick");
    return {};
  });
  const slow = app.inject({ method: "POST", url: "/slow" });
  await slowBegan;
  const quick = app.inject({ method: "POST", url: "/quick" });
  await turn();
  release();
  expect((await slow).statusCode).toBe(500);
  expect((await quick).statusCode).toBe(200);
  expect(await stored()).toEqual(["quick"]);
});

test("a handler that does not ask opens no transaction", async () => {
  const { app } = build();
  let asked: unknown = "unset";
  app.get("/", async () => ({}));
  app.addHook("onResponse", async (request) => {
    asked = request.lazyTransaction;
  });
  await app.inject({ method: "GET", url: "/" });
  expect(asked).toBeNull();
});
