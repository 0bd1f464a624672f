import { writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { place, servedPlace } from "../support/service.js";

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
  expect(checks.python).toMatchObject({ status: "missing", remedy: "npm run setup installs the trainer." });
  expect(checks["base model"]).toMatchObject({ status: "ok" });
  expect(checks["data directory"]).toMatchObject({ status: "ok", detail: at.dataDir });
  expect(checks.service).toMatchObject({ status: "ok", detail: `running at ${at.server.url}` });
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

it("reports a configuration that cannot be used as what is missing", async () => {
  const { code, stdout } = await imprint(["doctor"], { env: { IMPRINT_PORT: "none" } });
  expect(code).toBe(1);
  expect(stdout).toContain("✗ configuration  IMPRINT_PORT");
  expect(stdout).toContain("1 thing missing.");
});
