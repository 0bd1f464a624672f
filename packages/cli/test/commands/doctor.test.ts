import { chmod, mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { EXAMPLES, place, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

interface Check {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
  readonly remedy?: string;
}

const byName = (stdout: string): Record<string, Check> =>
  Object.fromEntries(JSON.parse(stdout).checks.map((check: Check) => [check.name, check]));

it("finds what is there, and says of the rest what to do", async () => {
  const at = await servedPlace();
  await writeFile(path.join(at.root, "tiny-model", "config.json"), "{}");
  await writeFile(path.join(at.root, "tiny-model", "model.safetensors"), "");
  const broken = path.join(at.root, "no-python");
  const { code, stdout } = await imprint(["doctor", "--json"], { env: { ...at.env, IMPRINT_PYTHON: broken } });
  const checks = byName(stdout);
  expect(code).toBe(1);
  expect(checks.node).toMatchObject({ status: "ok", detail: process.versions.node });
  expect(checks.python).toMatchObject({ status: "missing", remedy: "npx imprint setup installs the trainer." });
  expect(checks["base model"]).toMatchObject({ status: "ok" });
  expect(checks["data directory"]).toMatchObject({ status: "ok", detail: at.dataDir });
  expect(checks.engine).toMatchObject({ status: "ok", detail: "the trainer answers chats (engine from environment)" });
  expect(checks.service).toMatchObject({ status: "ok", detail: `running at ${at.server.url}` });
});

it("says what an upstream serves, and of which base models it answers the chats", async () => {
  const at = await place();
  const data = [{ id: "org/big", owned_by: "vllm", max_model_len: 4096 }];
  let version = "0.14.0";
  const upstream = createServer(({ url }, response) => response.end(JSON.stringify(url === "/version" ? { version } : { data })));
  await new Promise<void>((listening) => upstream.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  await mkdir(path.join(at.dataDir, "models", "big"), { recursive: true });
  await writeFile(path.join(at.dataDir, "models", "big", "config.json"), "{}");
  const env = { ...at.env, IMPRINT_UPSTREAM: url };
  const { engine, upstream: found } = byName((await imprint(["doctor", "--json"], { env })).stdout);
  expect(engine?.detail).toContain("big: the upstream, as org/big");
  expect(found).toMatchObject({
    status: "ok",
    detail: expect.stringMatching(/\(vllm\) serves org\/big; adapters are handed to it/),
  });
  version = "0.13.1";
  expect(byName((await imprint(["doctor", "--json"], { env })).stdout).upstream).toMatchObject({
    status: "warning",
    detail: expect.stringContaining("its release 0.13.1 has a known hole (CVE-2026-22807"),
    remedy: "Update that server.",
  });
  await new Promise((closed) => upstream.close(closed));
  expect(byName((await imprint(["doctor", "--json"], { env })).stdout).upstream).toMatchObject({
    status: "warning",
    detail: expect.stringContaining("does not answer (ECONNREFUSED)"),
  });
});

it("says of a program that is no Python what it is not", async () => {
  const at = await place();
  const { stdout } = await imprint(["doctor", "--json"], at);
  expect(byName(stdout).python).toMatchObject({
    status: "missing",
    detail: expect.stringContaining("this is no Python interpreter"),
  });
});

it("names a model that is not prepared, and a service that does not run", async () => {
  const at = await place();
  const { stdout } = await imprint(["doctor", "--json"], { env: { ...at.env, IMPRINT_BASE_MODEL: "absent" } });
  const checks = byName(stdout);
  expect(checks["base model"]).toMatchObject({ status: "missing" });
  expect(checks.service).toMatchObject({ status: "warning" });
});

const MEMORY = {
  ...{ weights_mb: 500, activations_mb: 9000, optimizer_mb: 80, logits_mb: 70, total_mb: 10600 },
  ...{ available_mb: 8000, fits: false, suggestion: "It fits with max_length 2048: 3.1 GB of 8.0 GB." },
};
const IMPRINT = { ...MEMORY, total_mb: 17_700, suggestion: "Train a LoRA adapter." };
const REPORT = {
  imprint: IMPRINT,
  ...{ length: 16384, longest_window: 2048, gradient_checkpointing: true, memory: MEMORY },
  windows: [
    { length: 1024, total_mb: 2100, gradient_checkpointing: false, fits: true },
    { length: 16384, total_mb: 10600, gradient_checkpointing: true, fits: false },
  ],
};

it("says what memory a training takes, and what would fit", async () => {
  const at = await place();
  const python = path.join(at.root, "reports");
  await writeFile(
    python,
    `#!/bin/sh\n[ "$2 $5 $6" = "imprint_trainer.memory_report --max-length 16384" ] && echo '${JSON.stringify(REPORT)}'\n`,
  );
  await chmod(python, 0o755);
  const env = { ...at.env, IMPRINT_PYTHON: python };
  const { code, stdout } = await imprint(["doctor", "--plan", "--max-length", "16384"], { env });
  expect(code).toBe(1);
  expect(stdout).toContain("A training on windows of 16,384 tokens, with gradient checkpointing\n");
  expect(stdout).toContain(`together     10.6 GB of 8.0 GB: does not fit. ${MEMORY.suggestion}\n`);
  expect(stdout).toContain("16,384  10.6 GB  with checkpointing  does not fit\n");
  expect(stdout).toContain("The longest window that is chosen here: 2,048 tokens.");
  expect(stdout).toContain("An imprint, with --method hypernetwork: 17.7 GB of 8.0 GB: does not fit. Train a LoRA adapter.");
});

it("says what memory a training on a stored session takes", async () => {
  const at = await servedPlace();
  await imprint(["import", path.join(EXAMPLES, "harborline-gates.json")], at);
  const { code, stdout } = await imprint(["doctor", "--plan", "harborline-gates", "--json"], at);
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, session_id: "harborline-gates", memory: { fits: true } });
});

it("takes the options of a training beside --plan only", async () => {
  const { code, stderr } = await imprint(["doctor", "--rank", "8"], await place());
  expect(code).toBe(2);
  expect(stderr).toContain("stand beside --plan");
});

it("reports a configuration that cannot be used as what is missing", async () => {
  const { code, stdout } = await imprint(["doctor"], { env: { IMPRINT_PORT: "none" } });
  expect(code).toBe(1);
  expect(stdout).toContain("✗ configuration  IMPRINT_PORT");
  expect(stdout).toContain("1 thing missing.");
});
