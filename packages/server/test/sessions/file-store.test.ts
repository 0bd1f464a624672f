import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type * as FileStore from "../../src/sessions/file-store.js";
import { build } from "../support/process.js";
import { makeFolder } from "../support/service.js";

beforeAll(build, 120_000);

/** As compiled: beside the sources there is no program to start. */
const compiled = (): Promise<typeof FileStore> => import(new URL("../../dist/sessions/file-store.js", import.meta.url).href);

test("a file that takes more memory than an import may have is refused, and the next one is stored", {
  timeout: 60_000,
}, async () => {
  const root = makeFolder();
  const file = join(root, "recording");
  const { createFileStore } = await compiled();
  const { run, close } = createFileStore({ heapMb: 32 });
  onTestFinished(close);
  const send = (content: string, staging: string) => {
    mkdirSync(staging);
    writeFileSync(file, content);
    return run("import", { source: { file }, staging, at: "2026-01-01T00:00:00.000Z" });
  };
  await expect(send(`{"messages":[${Array(2_000_000).fill("{}").join()}]}\n`, join(root, "refused"))).rejects.toMatchObject({
    code: "SESSION_UNREADABLE",
    message: expect.stringContaining("more memory than one import"),
  });
  const sessionsIn = (name: string) => readdirSync(join(root, name)).filter((file) => file.endsWith(".json"));
  expect(sessionsIn("refused")).toEqual([]);
  const said = (role: string) => ({ role, content: "The gate takes the ports 7001 to 7042. ".repeat(1000) });
  await send(`${JSON.stringify({ messages: [said("user"), said("assistant")] })}\n`, join(root, "stored"));
  expect(sessionsIn("stored")).toHaveLength(1);
});

test("a stored session that takes more memory than may be had is refused as such", { timeout: 60_000 }, async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, "s.json"), `{"schema_version":1,"source":{},"steps":[${Array(2_000_000).fill("{}").join()}]}`);
  const { createFileStore } = await compiled();
  const { run, close } = createFileStore({ heapMb: 32 });
  onTestFinished(close);
  await expect(run("read", { session: { folder, sessionId: "s", limit: 1e9 } })).rejects.toMatchObject({
    code: "SESSION_INVALID",
    message: expect.stringContaining("more memory than the reading of one"),
  });
});
