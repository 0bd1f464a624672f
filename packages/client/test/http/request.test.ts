import { describe, expect, it } from "vitest";
import { AbortError, ApiError, ConflictError, ConnectionError, NotFoundError, TimeoutError } from "../../src/index.js";
import { problem, service } from "../support/service.js";

const queued = { status: 200, body: { job_id: "01", status: "queued" } } as const;
const healthy = { status: 200, body: { status: "healthy", service: "imprint" } } as const;

describe("errors", () => {
  it.each([
    [400, ApiError],
    [401, ApiError],
    [403, ApiError],
    [404, NotFoundError],
    [409, ConflictError],
    [413, ApiError],
    [422, ApiError],
    [429, ApiError],
    [500, ApiError],
    [503, ApiError],
  ])("a %i is its own class and carries the problem", async (status, Class) => {
    const { client } = await service([problem(status, "JOB_NOT_FOUND", "No job 01.")], { maxRetries: 0 });
    const error = await client.jobs.get("01").catch((thrown) => thrown);
    expect(error).toBeInstanceOf(Class);
    expect(error).toMatchObject({
      status,
      code: "JOB_NOT_FOUND",
      detail: "No job 01.",
      message: "No job 01.",
      requestId: "req-1",
    });
  });

  it("an answer that is no problem document still says its status", async () => {
    const { client } = await service([{ status: 502, text: "<html>Bad gateway</html>" }]);
    await expect(client.health()).rejects.toMatchObject({ status: 502, code: null, message: "The service answered 502" });
  });

  it("reads the errors of the routes that speak OpenAI", async () => {
    const error = { message: "There is no model x.", type: "invalid_request_error", param: null, code: "not_found" };
    const { client } = await service([{ status: 404, body: { error } }]);
    const refused = client.chat.completions.create({ model: "x", messages: [] });
    await expect(refused).rejects.toMatchObject({ status: 404, code: "NOT_FOUND", detail: "There is no model x." });
  });

  it("a success that is not JSON is a connection error", async () => {
    const { client } = await service([{ status: 200, text: "<html>" }], { maxRetries: 0 });
    await expect(client.health()).rejects.toBeInstanceOf(ConnectionError);
  });

  it("names the fields of an invalid request", async () => {
    const errors = [{ path: "/epochs", message: "must be >= 1" }];
    const { client } = await service([
      { status: 422, body: { code: "VALIDATION_FAILED", detail: "epochs must be >= 1", errors } },
    ]);
    await expect(client.train.lora({ session_id: "s", epochs: 0 })).rejects.toMatchObject({ errors });
  });
});

describe("retries", () => {
  it("sends again after 429, 503 and a lost connection, with one idempotency key", async () => {
    const busy = problem(429, "QUEUE_FULL", "Full.");
    const { client, seen, pauses } = await service([busy, "hang up", problem(503, "SHUTTING_DOWN", "Closing."), queued], {
      maxRetries: 3,
    });
    await expect(client.train.lora({ session_id: "s" })).resolves.toEqual(queued.body);
    expect(seen.map((request) => request.headers["idempotency-key"])).toEqual(["key-1", "key-1", "key-1", "key-1"]);
    expect(pauses).toEqual([500, 1_000, 2_000]);
  });

  it("gives every start call a key of its own, and takes the caller's", async () => {
    const { client, seen } = await service([queued]);
    await client.train.lora({ session_id: "s" });
    await client.train.hypernetwork({ trajectory_ids: ["s"] });
    await client.train.lora({ session_id: "s" }, { idempotencyKey: "mine" });
    await client.adapters.export("a", "gguf");
    await client.adapters.evaluate("a");
    await client.projects.run("math");
    await client.jobs.salvage("01");
    const keys = seen.map((request) => request.headers["idempotency-key"]);
    expect(keys).toEqual(["key-1", "key-2", "mine", "key-3", "key-4", "key-5", "key-6"]);
  });

  it("stops after maxRetries and throws the last error", async () => {
    const { client, seen } = await service([problem(503, "SHUTTING_DOWN", "Closing.")], { maxRetries: 2 });
    await expect(client.health()).rejects.toMatchObject({ status: 503 });
    expect(seen).toHaveLength(3);
  });

  it("waits as long as Retry-After asks", async () => {
    const { client, pauses } = await service([problem(503, "SHUTTING_DOWN", ".", { "retry-after": "3" }), healthy]);
    await client.health();
    expect(pauses).toEqual([3_000]);
  });

  it.each([400, 401, 403, 404, 409, 422, 500])("does not repeat a %i", async (status) => {
    const { client, seen } = await service([problem(status, "BAD_REQUEST", ".")]);
    await expect(client.health()).rejects.toBeInstanceOf(ApiError);
    expect(seen).toHaveLength(1);
  });

  it("does not repeat a call without a key after an answer that says nothing of what was done", async () => {
    const { client, seen } = await service([problem(503, "WORKER_CRASHED", "The trainer died.")]);
    await expect(client.projects.rollback("math")).rejects.toMatchObject({ status: 503 });
    expect(seen).toHaveLength(1);
  });

  it("does not repeat a chat whose answer was lost: it may have run", async () => {
    const { client, seen } = await service(["hang up"]);
    const messages = [{ role: "user", content: "hi" }] as const;
    await expect(client.chat.completions.create({ model: "m", messages })).rejects.toBeInstanceOf(ConnectionError);
    expect(seen).toHaveLength(1);
  });
});

describe("limits of a call", () => {
  it("a silent service is a timeout", async () => {
    const { client, seen } = await service(["silence"]);
    await expect(client.health({ timeoutMs: 50 })).rejects.toBeInstanceOf(TimeoutError);
    expect(seen).toHaveLength(1);
  });

  it("what waits longer than Node's fetch does is a timeout that says how to wait on", async () => {
    // As recorded of Node 20, after 301 s.
    const cause = Object.assign(new Error("Headers Timeout Error"), { code: "UND_ERR_HEADERS_TIMEOUT" });
    const fetch = () => Promise.reject(new TypeError("fetch failed", { cause }));
    const { client } = await service([healthy], { fetch });
    const messages = [{ role: "user", content: "hi" }] as const;
    const asked = client.chat.completions.create({ model: "m", messages });
    await expect(asked).rejects.toBeInstanceOf(TimeoutError);
    await expect(asked).rejects.toThrow("for a stream");
  });

  it("the caller's signal ends the call at once", async () => {
    const { client, arrived } = await service(["silence"]);
    const controller = new AbortController();
    const call = client.health({ signal: controller.signal });
    await arrived(1);
    controller.abort();
    await expect(call).rejects.toBeInstanceOf(AbortError);
  });

  it("the caller's signal ends the pause before a retry", async () => {
    const controller = new AbortController();
    const { client, arrived, seen } = await service([problem(503, "SHUTTING_DOWN", ".")]);
    const call = client.health({ signal: controller.signal });
    await arrived(1);
    controller.abort();
    await expect(call).rejects.toBeInstanceOf(AbortError);
    expect(seen).toHaveLength(1);
  });

  it("nobody listening is a connection error that says what to do", async () => {
    const { client } = await service([healthy], { baseUrl: "http://127.0.0.1:1", maxRetries: 0 });
    await expect(client.health()).rejects.toThrow("imprint serve");
  });
});

it("sends the token and nothing else that could identify the caller", async () => {
  const { client, seen } = await service([healthy], { token: "secret-token" });
  await client.health();
  expect(seen[0]?.headers).toMatchObject({ authorization: "Bearer secret-token", accept: "application/json" });
  expect(seen[0]?.url).toBe("/health");
});

it("uses the fetch it is given", async () => {
  const asked: string[] = [];
  const doFetch: typeof fetch = async (input) => {
    asked.push(String(input));
    return Response.json({ status: "healthy" });
  };
  const { client } = await service([], { fetch: doFetch, baseUrl: "http://imprint.test/base/" });
  await client.health();
  expect(asked).toEqual(["http://imprint.test/base/health"]);
});
