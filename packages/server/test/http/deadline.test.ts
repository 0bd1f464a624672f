import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import Fastify from "fastify";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Clock, systemClock } from "../../src/common/clock.js";
import { ProblemError } from "../../src/common/error.js";
import { type Deferred, defer } from "../../src/common/promises.js";
import { addDeadlines } from "../../src/http/deadline.js";
import { addErrors } from "../../src/http/errors.js";
import { addJsonBody } from "../../src/http/strict-json.js";
import { manualClock } from "../common/manual-clock.js";
import { MODEL, makeFolder, startService } from "../support/service.js";
import { putSession } from "../support/session.js";

const jsonPost = (body: object): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

/** A service whose only handler answers when it is let, with the signal that it was given. */
const startHandler = async (clock: Clock) => {
  const app = Fastify({ forceCloseConnections: true });
  onTestFinished(() => app.close());
  addErrors(app);
  addDeadlines(app, { clock });
  const begun: Deferred<AbortSignal> = defer();
  const gate: Deferred<void> = defer();
  app.post("/", { config: { timeoutMs: 40_000 } }, async (request) => {
    begun.resolve(request.cancelled);
    await gate.promise;
    return { late: request.cancelled.aborted };
  });
  return { url: await app.listen({ port: 0, host: "127.0.0.1" }), begun: begun.promise, gate };
};

const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    else signal.addEventListener("abort", () => resolve(signal.reason));
  });

test("a handler of a JSON body that takes too long is told, and its client is answered 503 once", async () => {
  const clock = manualClock();
  const { url, begun, gate } = await startHandler(clock);
  const answer = fetch(url, jsonPost({ some: "body" }));
  const signal = await begun;
  clock.advance(39_999);
  expect(signal.aborted).toBe(false);
  clock.advance(1);
  const response = await answer;
  expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(await response.json()).toMatchObject({ code: "DEADLINE_EXCEEDED" });
  expect(signal.reason).toMatchObject({ code: "DEADLINE_EXCEEDED" });
  gate.resolve();
});

test("a handler of a JSON body hears that its client left, and nothing stays armed", async () => {
  const clock = manualClock();
  const { url, begun } = await startHandler(clock);
  const client = new AbortController();
  const answer = fetch(url, { ...jsonPost({ some: "body" }), signal: client.signal });
  const signal = await begun;
  client.abort();
  await expect(answer).rejects.toThrow();
  expect(await aborted(signal)).toMatchObject({ name: "ClientGoneError" });
  expect(clock.armed()).toBe(0);
});

test("a handler in time is answered, and nothing stays armed", async () => {
  const clock = manualClock();
  const { url, begun, gate } = await startHandler(clock);
  const answer = fetch(url, jsonPost({ some: "body" }));
  await begun;
  gate.resolve();
  expect(await (await answer).json()).toEqual({ late: false });
  expect(clock.armed()).toBe(0);
});

test.each([
  ["without a token", 401, (url: string) => fetch(url, jsonPost({ some: "body" }))],
  ["of another type", 415, (url: string) => fetch(url, { ...jsonPost({}), headers: { "content-type": "text/csv" } })],
  ["too large", 413, (url: string) => fetch(url, jsonPost({ some: "x".repeat(2_000) }))],
])("a body that is refused unread, %s, leaves nothing armed", async (_case, status, post) => {
  const clock = manualClock();
  const app = Fastify({ forceCloseConnections: true, bodyLimit: 1_000 });
  onTestFinished(() => app.close());
  addErrors(app);
  addDeadlines(app, { clock });
  addJsonBody(app);
  const over = defer<void>();
  app.addHook("onRequest", async ({ raw }) => {
    raw.once("close", () => over.resolve());
    if (status === 401) throw new ProblemError("UNAUTHORIZED", "No token.");
  });
  app.post("/", async () => ({}));
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const response = await post(url);
  await response.text();
  await over.promise;
  expect([response.status, clock.armed()]).toEqual([status, 0]);
});

/** Time limits of chats and previews, which pass at once here. */
const LONG_MS = [300_000, 600_000];

const hurriedClock = (): Clock => {
  const system = systemClock();
  return { ...system, after: (ms, run) => system.after(LONG_MS.includes(ms) ? 100 : ms, run) };
};

test("a chat that a trainer does not get to is refused at its deadline", async () => {
  const never = join(makeFolder(), "ready");
  const service = await startService({ behaviour: { ready_after: never }, clock: hurriedClock() });
  const chat = { model: MODEL, messages: [{ role: "user", content: "hello" }] };
  for (const stream of [false, true]) {
    const response = await fetch(`${service.url}/v1/chat/completions`, jsonPost({ ...chat, stream }));
    expect([response.status, await response.json()]).toMatchObject([503, { error: { code: "deadline_exceeded" } }]);
  }
});

test("a preview that a trainer does not get to is refused at its deadline", async () => {
  const never = join(makeFolder(), "ready");
  const service = await startService({ behaviour: { ready_after: never }, clock: hurriedClock() });
  putSession(service.dataDir, "s1");
  const response = await fetch(`${service.url}/sessions/s1/preview`, jsonPost({}));
  expect([response.status, await response.json()]).toMatchObject([503, { code: "DEADLINE_EXCEEDED" }]);
});

test("a preview whose client left stops waiting for the trainer", async () => {
  const never = join(makeFolder(), "ready");
  const service = await startService({ behaviour: { ready_after: never } });
  putSession(service.dataDir, "s1");
  const staging = join(service.dataDir, "adapters", ".staging");
  for (const [path, body] of [
    ["/sessions/s1/preview", {}],
    ["/train/lora/preview", { session_id: "s1" }],
  ] as const) {
    const client = new AbortController();
    const answer = fetch(`${service.url}${path}`, { ...jsonPost(body), signal: client.signal });
    answer.catch(() => {});
    await vi.waitFor(() => expect(readdirSync(staging)).toHaveLength(1));
    const staged = (): string => join(staging, readdirSync(staging)[0] ?? "", "session-1.json");
    await vi.waitFor(() => expect(existsSync(staged())).toBe(true), { timeout: 10_000 });
    client.abort();
    await expect(answer).rejects.toThrow();
    await vi.waitFor(() => expect(readdirSync(staging)).toEqual([]));
  }
});
