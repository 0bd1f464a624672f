import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { ImportResult } from "@imprint/contracts";
import { LIMITS } from "@imprint/sessions";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { Settings } from "../../src/config/schema.js";
import type * as FileStore from "../../src/sessions/file-store.js";
import { runTask } from "../../src/sessions/tasks.js";
import { childrenOf } from "../support/children.js";
import { build, gone, type Process, startProcess } from "../support/process.js";
import { makeFolder, startService } from "../support/service.js";

beforeAll(build, 120_000);

/** As compiled: beside the sources there is no program to start. */
const compiled = (): Promise<typeof FileStore> => import(new URL("../../dist/sessions/file-store.js", import.meta.url).href);

const MB = 1024 * 1024;

const chat = (at: number, text = "Open the gate."): string =>
  `${JSON.stringify({
    messages: [
      { role: "user", content: `${at}. ${text}` },
      { role: "assistant", content: "It is open." },
    ],
  })}\n`;

const chats = (count: number): string => Array.from({ length: count }, (_, at) => chat(at)).join("");

/** One conversation of so many bytes that takes seconds to read. Compressed, it is small. */
const long = (bytes: number): string => {
  const text = "The gate takes the ports 7001 to 7042, and the check rejects all others. ".repeat(40);
  const pair = [
    { role: "user", content: text },
    { role: "assistant", content: text },
  ];
  return `${JSON.stringify({ messages: Array.from({ length: Math.ceil(bytes / (2 * text.length)) }, () => pair).flat() })}\n`;
};

const upload = (service: Process, body: string | Buffer, signal?: AbortSignal): Promise<Response> =>
  service.fetch("/sessions", {
    method: "POST",
    headers: { "content-type": "application/x-ndjson" },
    body,
    ...(signal && { signal }),
  });

const incomingOf = (folder: string): readonly string[] => readdirSync(join(folder, "data", "incoming"));

/** Resolves once the import that was begun is read by a process. */
const reading = async (folder: string, { child }: Process, count = 1): Promise<readonly number[]> =>
  vi.waitFor(
    () => {
      const children = childrenOf(child.pid ?? 0);
      const begun = incomingOf(folder).filter((name) =>
        readdirSync(join(folder, "data", "incoming", name)).includes("summaries.jsonl"),
      );
      if (children.length < count || begun.length < count) throw new Error("nothing is read yet");
      return children;
    },
    { timeout: 20_000, interval: 20 },
  );

test("the setting is the importers' own limit unless set", () => {
  const of = (name: keyof typeof Settings.properties): unknown => (Settings.properties[name] as { default?: unknown }).default;
  expect(of("import_unpacked_bytes")).toBe(LIMITS.decoded);
});

test("an import beyond import_unpacked_bytes is refused by a sentence that names it, and nothing is stored", async () => {
  const service = await startService({ flags: { import_unpacked_bytes: 4096 } });
  const headers = { "content-type": "application/x-ndjson" };
  const refused = await service.call({ method: "POST", url: "/sessions", payload: gzipSync(chats(100)), headers });
  expect(refused.json()).toMatchObject({
    status: 422,
    code: "SESSION_UNREADABLE",
    detail: expect.stringContaining("start the service with a higher import_unpacked_bytes."),
  });
  expect(readdirSync(join(service.dataDir, "sessions"))).toEqual([]);
  expect(readdirSync(join(service.dataDir, "incoming"))).toEqual([]);
});

/** An import's task for the recording of these bytes. */
const taskFor = (bytes: string | Buffer) => {
  const root = makeFolder();
  const [staging, file] = [join(root, "staging"), join(root, "recording")];
  mkdirSync(staging);
  writeFileSync(file, bytes);
  return { source: { file }, staging, at: "2026-01-01T00:00:00.000Z" };
};

test.each([
  [{ conversations: 3 }, () => chats(4), "more than 3 conversations"],
  [{ ratio: 10 }, () => gzipSync(chat(0) + `${"x".repeat(MB)}\n`.repeat(70)), "times"],
] as const)("an import beyond %j is refused", async (bounds, bytesOf, sentence) => {
  await expect(runTask("import", { ...taskFor(bytesOf()), bounds })).rejects.toMatchObject({
    code: "SESSION_UNREADABLE",
    message: expect.stringContaining(sentence),
  });
});

test("an import that takes too long is ended, and its sentence says so", { timeout: 60_000 }, async () => {
  const { createFileStore } = await compiled();
  const { run, close } = createFileStore();
  onTestFinished(close);
  await expect(run("import", taskFor(gzipSync(long(60 * MB))), { seconds: 0.3 })).rejects.toMatchObject({
    code: "SESSION_UNREADABLE",
    message: expect.stringContaining("longer than 0.3 s"),
  });
  await run("import", taskFor(chats(1)));
});

test("a small compressed file is not unpacked where others are answered", { timeout: 60_000 }, async () => {
  const task = taskFor(gzipSync(`{"messages":[${Array(2_000_000).fill("{}").join()}]}\n`));
  const { createFileStore } = await compiled();
  const { run, close } = createFileStore({ heapMb: 32 });
  onTestFinished(close);
  await expect(run("import", task)).rejects.toMatchObject({ message: expect.stringContaining("more memory than one import") });
});

test("an import ends with its client: its process and its folder are gone", { timeout: 60_000 }, async () => {
  const folder = makeFolder();
  const service = await startProcess(folder);
  const leaving = new AbortController();
  const left = upload(service, gzipSync(long(60 * MB)), leaving.signal);
  const [reader = 0] = await reading(folder, service);
  leaving.abort();
  await expect(left).rejects.toThrow();
  await gone(reader);
  await vi.waitFor(() => expect(incomingOf(folder)).toEqual([]));
  expect(readdirSync(join(folder, "data", "sessions"))).toEqual([]);
});

test("imports wait neither for a long one nor for one another", { timeout: 60_000 }, async () => {
  const folder = makeFolder();
  const service = await startProcess(folder);
  const leaving = new AbortController();
  const stuck = [0, 1, 2].map((at) => upload(service, gzipSync(chat(at) + long(60 * MB)), leaving.signal).catch(() => "left"));
  await reading(folder, service, 3);
  for (const body of [chats(1), gzipSync(chats(2)), long(100_000)]) expect((await upload(service, body)).status).toBe(201);
  expect(incomingOf(folder)).toHaveLength(3);
  leaving.abort();
  expect(await Promise.all(stuck)).toEqual(["left", "left", "left"]);
});

test("the service stops at once while an import is read, and nothing of it is left", { timeout: 60_000 }, async () => {
  const folder = makeFolder();
  const service = await startProcess(folder);
  const refused = upload(service, gzipSync(long(60 * MB))).then(
    async (answer) => ((await answer.json()) as { code: string }).code,
    () => "closed",
  );
  const [reader = 0] = await reading(folder, service);
  const begin = performance.now();
  service.child.kill("SIGTERM");
  expect(await service.ended).toEqual([0, null]);
  expect(performance.now() - begin).toBeLessThan(5000);
  expect(await refused).toBe("SHUTTING_DOWN");
  await gone(reader);
  expect(incomingOf(folder)).toEqual([]);
});

test("10,000 conversations are stored while lists are answered", { timeout: 120_000 }, async () => {
  const service = await startProcess(makeFolder());
  await upload(service, chats(1));
  let importing = true;
  const imported = upload(service, chats(10_000)).finally(() => {
    importing = false;
  });
  let slowest = 0;
  while (importing) {
    const begin = performance.now();
    expect((await service.fetch("/sessions?limit=10")).status).toBe(200);
    slowest = Math.max(slowest, performance.now() - begin);
  }
  const response = await imported;
  expect([response.status, ((await response.json()) as ImportResult).sessions.length]).toEqual([201, 10_000]);
  // Other work on the machine takes some of it. Rows of one transaction kept everybody waiting for seconds.
  expect(slowest).toBeLessThan(1000);
});
