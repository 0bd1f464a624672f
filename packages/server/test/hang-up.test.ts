import { existsSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { beforeAll, expect, test, vi } from "vitest";
import { build, type Process, startProcess, workerPid } from "./support/process.js";
import { MODEL, makeFolder } from "./support/service.js";
import { putSession } from "./support/session.js";

beforeAll(build, 120_000);

const ERROR_LEVEL = 50;
const LEFT = "the client closed the connection";

/** A service whose trainer keeps every chat until it is cancelled, with one chat in the trainer's hands. */
const startHeld = async (): Promise<{ folder: string; service: Process; answer: Promise<Response>; hangUp: () => void }> => {
  const folder = makeFolder();
  const held = join(folder, "held");
  const env = { IMPRINT_LOG_LEVEL: "debug", IMPRINT_SHUTDOWN_GRACE: "600" };
  const service = await startProcess(folder, { behaviour: { hold_chats: held }, env });
  putSession(join(folder, "data"), "s1");
  const client = new AbortController();
  const answer = service.fetch("/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "hello" }] }),
    signal: client.signal,
  });
  answer.catch(() => {});
  await vi.waitFor(() => expect(existsSync(held)).toBe(true), { timeout: 10_000, interval: 10 });
  return { folder, service, answer, hangUp: () => client.abort() };
};

test("a chat whose client left is one quiet line in the log, and frees its trainer for the next job", async () => {
  const { folder, service, answer, hangUp } = await startHeld();
  const pid = workerPid(folder);
  hangUp();
  await expect(answer).rejects.toThrow();
  const id = await service.start({ session_id: "s1" });
  await vi.waitFor(async () => expect(await (await service.fetch(`/jobs/${id}`)).json()).toMatchObject({ status: "completed" }), {
    timeout: 10_000,
  });
  expect(workerPid(folder)).toBe(pid);
  const counted = await (await service.fetch("/metrics")).text();
  expect(counted).toContain('imprint_http_requests_total{method="POST",route="/v1/chat/completions",status="499"} 1');
  const lines = service.logged();
  expect(lines.filter(({ msg }) => msg === LEFT)).toHaveLength(1);
  expect(lines.filter(({ level }) => level >= ERROR_LEVEL)).toEqual([]);
});

test("a client that leaves in the middle of its body is no error of the service", async () => {
  const service = await startProcess(makeFolder(), { env: { IMPRINT_LOG_LEVEL: "debug" } });
  const { host, port } = new URL(service.url);
  const head = `POST /train/lora HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
  for (let round = 0; round < 5; round += 1) {
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), "127.0.0.1", () => socket.write(head, () => socket.destroy()));
      socket.once("close", () => resolve());
    });
  }
  service.child.kill("SIGTERM");
  expect(await service.ended).toEqual([0, null]);
  expect(service.logged().filter(({ level }) => level >= ERROR_LEVEL)).toEqual([]);
});

test("a client that leaves in the middle of a session leaves nothing of it", async () => {
  const folder = makeFolder();
  const service = await startProcess(folder, { env: { IMPRINT_LOG_LEVEL: "debug" } });
  const incoming = join(folder, "data", "incoming");
  const body = new PassThrough();
  const client = new AbortController();
  const headers = { "content-type": "application/x-ndjson" };
  const sent = service.fetch("/sessions", {
    method: "POST",
    headers,
    body,
    duplex: "half",
    signal: client.signal,
  } as RequestInit);
  body.write('{"messages": [');
  await vi.waitFor(() => expect(readdirSync(incoming)).toHaveLength(1));
  client.abort();
  await expect(sent).rejects.toThrow();
  await vi.waitFor(() => expect(service.logged().filter(({ msg }) => msg === LEFT)).toHaveLength(1));
  expect([readdirSync(incoming), readdirSync(join(folder, "data", "sessions"))]).toEqual([[], []]);
  expect(service.logged().filter(({ level }) => level >= ERROR_LEVEL)).toEqual([]);
});

test("SIGTERM stops a chat at once and answers it with 503", async () => {
  const { service, answer } = await startHeld();
  service.child.kill("SIGTERM");
  const refused = await answer;
  expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: "shutting_down" } }]);
  expect(await service.ended).toEqual([0, null]);
  expect(service.logged().filter(({ level }) => level >= ERROR_LEVEL)).toEqual([]);
});
