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
  const [folder, staging, file] = [join(root, "sessions"), join(root, "staging"), join(root, "recording")];
  for (const path of [folder, staging]) mkdirSync(path);
  const { createFileStore } = await compiled();
  const { store, close } = createFileStore({ heapMb: 32 });
  onTestFinished(close);
  const send = (content: string) => {
    writeFileSync(file, content);
    return store({ file, folder, staging, limit: 1e9, at: "2026-01-01T00:00:00.000Z" });
  };
  await expect(send(`{"messages":[${Array(2_000_000).fill("{}").join()}]}\n`)).rejects.toMatchObject({
    code: "SESSION_UNREADABLE",
    message: expect.stringContaining("more memory"),
  });
  expect(readdirSync(folder)).toEqual([]);
  const said = (role: string) => ({ role, content: "The gate takes the ports 7001 to 7042. ".repeat(1000) });
  const { isNew } = await send(`${JSON.stringify({ messages: [said("user"), said("assistant")] })}\n`);
  expect([isNew, readdirSync(folder).length]).toEqual([true, 1]);
});
