import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { Problem } from "@imprint/contracts";
import Fastify from "fastify";
import { Check } from "typebox/value";
import { expect, onTestFinished, test, vi } from "vitest";
import { addErrors, refuseBrokenRequest } from "../../src/http/errors.js";
import { addStallGuard } from "../../src/http/stall-guard.js";
import { manualClock } from "../common/manual-clock.js";
import { startService } from "../support/service.js";

/** Connects to a service and sends what is given; what comes back until the connection ends. */
const open = (url: string, sent: string): { readonly socket: Socket; readonly answer: Promise<string> } => {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.write(sent.replaceAll("HOST", host));
  return { socket, answer: text(socket) };
};

const read = (answer: string) => {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head: head.toLowerCase(), body: JSON.parse(body) };
};

const expectProblem = (answer: string, status: number, code: string): void => {
  const { head, body, ...rest } = read(answer);
  expect(rest.status).toBe(status);
  expect(head).toContain("content-type: application/problem+json; charset=utf-8");
  expect(head).toContain("x-content-type-options: nosniff");
  expect(Check(Problem, body), JSON.stringify(body)).toBe(true);
  expect(body).toMatchObject({ status, code });
};

const LONG = "x".repeat(20_000);

test.each([
  ["no HTTP", "hello\r\n\r\n", 400, "BAD_REQUEST"],
  ["a header without a name", "GET /jobs HTTP/1.1\r\n: x\r\n\r\n", 400, "BAD_REQUEST"],
  ["a length that is none", "POST /train/lora HTTP/1.1\r\nHost: HOST\r\nContent-Length: x\r\n\r\n", 400, "BAD_REQUEST"],
  ["headers beyond any use", `GET /jobs HTTP/1.1\r\nHost: HOST\r\nX: ${LONG}\r\n\r\n`, 431, "HEADERS_TOO_LARGE"],
])("%s is refused as a problem", async (_case, sent, status, code) => {
  const { url } = await startService();
  expectProblem(await open(url, sent).answer, status, code);
});

const OPENAI = { error: { message: expect.any(String), type: "invalid_request_error", param: null, code: expect.any(String) } };
const ANTHROPIC = {
  type: "error",
  error: { type: expect.stringMatching(/^(?:invalid_request|not_found)_error$/), message: expect.any(String) },
  request_id: expect.any(String),
};

test.each([
  ["/v1/models", OPENAI],
  ["/record/v1/models", OPENAI],
  ["/record/codex/v1/responses", OPENAI],
  ["/record/v1/messages", ANTHROPIC],
  ["/record/claude-code/v1/messages?beta=true", ANTHROPIC],
])("what Node refuses at %s has its clients' shape", async (path, shape) => {
  const { url } = await startService();
  const { status, body } = read(await open(url, `GET ${path} HTTP/1.1\r\nHost: HOST\r\nX: ${LONG}\r\n\r\n`).answer);
  expect([status, body]).toEqual([431, shape]);
});

test.each([
  ["/record/v1", OPENAI, 404],
  ["/record/No_Name/v1/chat/completions", OPENAI, 404],
  ["/record/codex/v1/nothing", OPENAI, 404],
  ["/record/No_Name/v1/messages", ANTHROPIC, 404],
  ["/record/v1/messages/nothing", ANTHROPIC, 404],
  ["/record/v1/messages", ANTHROPIC, 400],
  ["/record/codex/v1/responses", OPENAI, 400],
])("POST %s is refused in its clients' shape", async (url, shape, status) => {
  const service = await startService();
  const response = await service.post(url, {});
  expect([response.statusCode, response.json()]).toEqual([
    status,
    status === 400 && shape === OPENAI ? { error: { ...OPENAI.error, param: expect.any(String) } } : shape,
  ]);
});

/** A service that reads a JSON body, with a clock of the test's own, and how many bytes have reached it. */
const startReader = async () => {
  const clock = manualClock();
  const http = { headersTimeout: 50, connectionsCheckingInterval: 20 };
  const app = Fastify({ forceCloseConnections: true, clientErrorHandler: refuseBrokenRequest, http });
  onTestFinished(() => app.close());
  addErrors(app);
  addStallGuard(app, { clock });
  app.post("/", async ({ body }) => ({ length: (body as { text: string }).text.length }));
  app.post("/v1/files", async () => ({}));
  const sockets: Socket[] = [];
  app.server.on("connection", (socket) => sockets.push(socket));
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const arrived = (): number => sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  return { url, clock, arrived };
};

const head = (path: string, length: number): string =>
  `POST ${path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

const STALL_MS = 60_000;

test("a body that takes longer than any limit is read as long as it keeps coming", async () => {
  const { url, clock, arrived } = await startReader();
  const pieces = ['{"text":"', ...Array.from({ length: 20 }, () => "x".repeat(2_000)), '"}'];
  const { socket, answer } = open(url, head("/", pieces.join("").length));
  let before = arrived();
  for (const piece of pieces.slice(0, -1)) {
    socket.write(piece);
    await vi.waitFor(() => expect(arrived()).toBeGreaterThanOrEqual(before + piece.length));
    before = arrived();
    clock.advance(STALL_MS - 1);
  }
  socket.write(pieces.at(-1) ?? "");
  expect(read(await answer)).toMatchObject({ status: 200, body: { length: 40_000 } });
  expect(clock.armed()).toBe(0);
});

test("a body that stops coming ends with 408", async () => {
  const { url, clock } = await startReader();
  const { answer } = open(url, `${head("/", 100)}{`);
  await vi.waitFor(() => expect(clock.armed()).toBe(1));
  clock.advance(2 * STALL_MS);
  expectProblem(await answer, 408, "REQUEST_INCOMPLETE");
  expect(clock.armed()).toBe(0);
});

test("a body under /v1 that stops coming ends with 408 in OpenAI's shape", async () => {
  const { url, clock } = await startReader();
  const { answer } = open(url, `${head("/v1/files", 100)}{`);
  await vi.waitFor(() => expect(clock.armed()).toBe(1));
  clock.advance(2 * STALL_MS);
  expect(read(await answer)).toMatchObject({ status: 408, body: { error: { code: "request_incomplete" } } });
});

test("a body that was refused, and stops coming, ends its connection", async () => {
  const { url, clock } = await startReader();
  const { socket, answer } = open(url, `${head("/", 100).replace("Connection: close\r\n", "").replace("json", "none")}{`);
  await vi.waitFor(() => expect(socket.bytesRead).toBeGreaterThan(0));
  expect(clock.armed()).toBe(1);
  clock.advance(2 * STALL_MS);
  expect(read(await answer)).toMatchObject({ status: 415 });
  expect(clock.armed()).toBe(0);
});

test("headers that do not end are refused with 408", async () => {
  const { url } = await startReader();
  expectProblem(await open(url, "GET / HTTP/1.1\r\nHost: ").answer, 408, "REQUEST_INCOMPLETE");
});

test.each([
  ["PUT", "/v1/models", {}, 405],
  ["GET", "/v1/nothing", {}, 404],
  ["GET", "/v1/files/%zz", {}, 400],
  ["POST", "/v1/chat/completions", { payload: "{", headers: { "content-type": "application/json" } }, 400],
  ["POST", "/v1/chat/completions", { payload: "x", headers: { "content-type": "text/plain" } }, 415],
  ["POST", "/v1/fine_tuning/jobs", { payload: `"${"x".repeat(2 ** 21)}"`, headers: { "content-type": "application/json" } }, 413],
  ["POST", "/v1/files", {}, 415],
  ["POST", "/v1/files", { payload: "x", headers: { "content-type": "text/plain" } }, 415],
  ["POST", "/v1/files", { headers: { "content-type": "multipart/form-data" } }, 400],
  ["GET", "/v1/models", { headers: { host: "evil.example" } }, 403],
] as const)("%s %s with %j is refused in OpenAI's shape", async (method, url, options, status) => {
  const service = await startService();
  const response = await service.call({ method, url, ...options });
  expect(response.statusCode).toBe(status);
  expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(response.json()).toEqual({
    error: { message: expect.any(String), type: "invalid_request_error", param: null, code: expect.any(String) },
  });
});

test("a session without a body is refused", async () => {
  const service = await startService();
  const response = await service.call({ method: "POST", url: "/sessions" });
  expect([response.statusCode, response.json()]).toMatchObject([415, { code: "UNSUPPORTED_MEDIA_TYPE" }]);
});
