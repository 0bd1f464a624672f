import { setImmediate as turn } from "node:timers/promises";
import Fastify from "fastify";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { defer } from "../../src/common/promises.js";
import { addDeadlines } from "../../src/http/deadline.js";
import { addErrors } from "../../src/http/errors.js";
import { addTransactions } from "../../src/http/transaction.js";
import { openDatabase } from "../../src/storage/open.js";
import type { Transaction } from "../../src/storage/schema.js";
import { manualClock } from "../common/manual-clock.js";
import { makeFolder } from "../support/service.js";

const insert = (session: Transaction, session_id: string) =>
  session.insertInto("sessions").values({ session_id, summary: "{}" }).execute();

const build = () => {
  const database = openDatabase({ path: `${makeFolder()}/registry.db` });
  const lines: string[] = [];
  const logger = { level: "error", stream: { write: (line: string) => void lines.push(line) } };
  const logged = () => lines.map((line) => JSON.parse(line));
  const app = Fastify({ logger, forceCloseConnections: true });
  const clock = manualClock();
  addErrors(app);
  addDeadlines(app, { clock });
  addTransactions(app, { database });
  onTestFinished(async () => {
    await app.close();
    await database.destroy();
  });
  const stored = async () => (await database.selectFrom("sessions").select("session_id").execute()).map((row) => row.session_id);
  return { app, database, stored, clock, logged };
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

const jsonPost = { method: "POST", headers: { "content-type": "application/json" }, body: '{"some":"body"}' };

test.each(["its client goes away", "it takes too long"])("a handler of a JSON body is rolled back when %s", async (reason) => {
  const { app, stored, clock } = build();
  const written = defer<AbortSignal>();
  const gate = defer<void>();
  const second = defer<unknown>();
  app.post("/", async (request) => {
    await insert(await request.db(), "lost");
    written.resolve(request.cancelled);
    await gate.promise;
    await request.db().then(
      (session) => insert(session, "lost too").then(second.resolve, second.resolve),
      (error) => second.resolve(error),
    );
    return {};
  });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const client = new AbortController();
  const answer = fetch(url, { ...jsonPost, signal: client.signal }).then(
    ({ status }) => status,
    () => "left",
  );
  const cancelled = await written.promise;
  const heard = new Promise((resolve) => cancelled.addEventListener("abort", resolve));
  if (reason === "its client goes away") client.abort();
  else clock.advance(30_000);
  expect(await answer).toBe(reason === "its client goes away" ? "left" : 503);
  await heard;
  // The connection is free although the handler still runs.
  expect(await stored()).toEqual([]);
  gate.resolve();
  expect(await second.promise).toBe(cancelled.reason);
  expect(await stored()).toEqual([]);
});

test("an answer to a client that left commits nothing, and is no error of the service", async () => {
  const { app, stored } = build();
  const begun = defer<AbortSignal>();
  const gate = defer<void>();
  const ended = defer<number>();
  app.post("/", async (request) => {
    begun.resolve(request.cancelled);
    await gate.promise;
    return {};
  });
  app.addHook("onSend", async (_request, reply) => ended.resolve(reply.statusCode));
  app.addHook("preHandler", async (request) => void (await insert(await request.db(), "lost")));
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const client = new AbortController();
  const answer = fetch(url, { ...jsonPost, signal: client.signal });
  const cancelled = await begun.promise;
  const heard = new Promise((resolve) => cancelled.addEventListener("abort", resolve));
  client.abort();
  await expect(answer).rejects.toThrow();
  await heard;
  gate.resolve();
  expect(await ended.promise).toBe(499);
  expect(await stored()).toEqual([]);
});

test("a full database is 507 with the cause in the log, and the connection serves the next request", async () => {
  const { app, database, stored, logged } = build();
  await sql`pragma max_page_count = 40`.execute(database);
  app.post("/", async (request) => {
    await insert(await request.db(), "x".repeat(1_000_000));
    return {};
  });
  for (let round = 0; round < 2; round += 1) {
    const response = await app.inject({ method: "POST", url: "/" });
    expect([response.statusCode, response.json()]).toMatchObject([507, { code: "DISK_FULL" }]);
    expect(response.json().detail).toMatch(/full \(SQLITE_FULL\).*Free space/);
  }
  expect(logged()).toMatchObject([{ msg: "DISK_FULL", err: { code: "SQLITE_FULL" } }, { msg: "DISK_FULL" }]);
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
