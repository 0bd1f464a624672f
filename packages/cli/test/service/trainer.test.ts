import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { loadConfig } from "@imprint/server/configuration";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { checkPython } from "../../src/doctor/python.js";
import { runTrainer, showTrainer } from "../../src/service/trainer.js";

/** A Python that notes the names of the variables that it sees. */
const notingPython = () => {
  const root = mkdtempSync(path.join(tmpdir(), "imprint-python-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const [python, noted] = [path.join(root, "python"), path.join(root, "seen")];
  writeFileSync(python, `#!/bin/sh\nenv | cut -d= -f1 > "${noted}"\n`);
  chmodSync(python, 0o755);
  const config = loadConfig({ env: { IMPRINT_PYTHON: python }, home: root, repoRoot: root });
  return { config, python, seen: () => new Set(readFileSync(noted, "utf8").split("\n")) };
};

const SECRETS = [
  "IMPRINT_TOKEN",
  "IMPRINT_RAY_TOKEN_FILE",
  "AWS_SECRET_ACCESS_KEY",
  "ANTHROPIC_API_KEY",
  "GITHUB_TOKEN",
  "DB_URL",
];

beforeEach(() => {
  for (const name of [...SECRETS, "HF_TOKEN", "OMP_NUM_THREADS"]) vi.stubEnv(name, "a-secret");
  return () => vi.unstubAllEnvs();
});

it.each<[string, (given: ReturnType<typeof notingPython>) => Promise<unknown>]>([
  ["a module that is run", ({ config }) => runTrainer(config, "module", [])],
  ["a module on the terminal", ({ config }) => showTrainer(config, "module", [])],
  ["what the doctor asks", ({ config, python }) => checkPython({ python, repoRoot: config.repoRoot })],
])("no secret of the user's reaches the Python of %s", async (_what, act) => {
  const given = notingPython();
  await act(given);
  const seen = given.seen();
  expect([...SECRETS, "HF_TOKEN"].filter((name) => seen.has(name))).toEqual([]);
  expect(["PATH", "PYTHONPATH", "OMP_NUM_THREADS", "HF_HUB_OFFLINE"].filter((name) => !seen.has(name))).toEqual([]);
});

it("the account at the model hub reaches a Python that may reach the hub, and no other secret does", async () => {
  const { config, seen } = notingPython();
  await runTrainer(config, "module", [], { online: true });
  expect(seen()).toContain("HF_TOKEN");
  expect(SECRETS.filter((name) => seen().has(name))).toEqual([]);
});
