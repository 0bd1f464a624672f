import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { workerPath } from "../support.js";

const ENTRY = "entry.js";
const source = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

let folder = "";

/** A service to kill has to be a process of its own, and plain JavaScript. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "imprint-test-"));
  const entry = join(folder, ENTRY);
  const names = { createLocalRunner: "src/runners/local/local-runner.ts", systemClock: "src/common/clock.ts" };
  const lines = Object.entries(names).map(([name, path]) => `export { ${name} } from ${JSON.stringify(source(path))};`);
  writeFileSync(entry, lines.join("\n"));
  await build({
    configFile: false,
    logLevel: "error",
    resolve: {
      alias: {
        "@imprint/contracts/fields": source("../contracts/src/fields.ts"),
        "@imprint/contracts": source("../contracts/src/index.ts"),
      },
    },
    build: { ssr: entry, outDir: join(folder, "out"), target: "node20" },
    ssr: { noExternal: true },
  });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(["hang", "throw", "exit"])("no worker outlives a service that goes by: %s", async (way) => {
  const worker = workerPath(way === "hang" ? "trainer.mjs" : "stays.mjs");
  const service = spawn(process.execPath, [workerPath("parent.mjs"), join(folder, "out", ENTRY), worker, way], {
    stdio: ["ignore", "pipe", "ignore", "pipe"],
  });
  const held = (service.stdio[3] as Readable).resume(); // ends when the service and its worker are gone
  const ended = once(held, "close");
  await once(service.stdout as Readable, "data");
  const started = performance.now();
  if (way === "hang") service.kill("SIGKILL");
  await ended;
  expect(performance.now() - started).toBeLessThan(5000);
});
