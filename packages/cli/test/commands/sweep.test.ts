import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint, start } from "../support/imprint.js";
import { EXAMPLES, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

const GRID = ["--rank", "4,8", "--learning-rate", "1e-4,3e-4", "--adapter-id", "best"];

async function imported(behaviour: object = {}) {
  const at = await servedPlace(() => ({ ...behaviour }));
  await imprint(["import", path.join(EXAMPLES, "harborline-gates.json")], at);
  return at;
}

it("tries every combination, and prints what it tried with the chosen one marked and what its figure is worth", async () => {
  const at = await imported();
  const said = await imprint(["sweep", "harborline-gates", ...GRID, "--watch"], at);
  expect(said).toMatchObject({ code: 0, stdout: expect.stringContaining("best is ready") });
  expect(said.stdout).toMatch(/→ 2 +4 +8 +0.0003 +2 +2\/2 .*to its end/);
  expect(said.stdout).toContain("The lowest of 4 losses is in part luck");
  const json = JSON.parse((await imprint(["job", "latest", "--json"], at)).stdout);
  expect(json).toMatchObject({ kind: "sweep", result: { best: 2 }, request: { holdout: "auto" } });
  expect(json.request.trials).toHaveLength(4);
});

it("goes on where it was cancelled", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "imprint-cli-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const gate = path.join(folder, "gate");
  const at = await imported({ wait_for: gate });
  const running = start(["sweep", "harborline-gates", ...GRID, "--watch", "--json"], at.env);
  await running.said("training");
  const { jobs } = JSON.parse((await imprint(["jobs", "--json"], at)).stdout);
  await imprint(["cancel", jobs[0].job_id], at);
  await running.ended;
  expect((await imprint(["job", "latest"], at)).stdout).toContain(`sweep --resume ${jobs[0].job_id}`);
  await writeFile(gate, "");
  expect(await imprint(["sweep", "--resume", jobs[0].job_id, "--watch"], at)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("best is ready"),
  });
});

it.each([
  [["--rank", "4,8", "--holdout", "none"], 2, "--holdout must hold something out"],
  [["--rank", "8"], 2, "--trials has nothing to compare: name several values of rank"],
  [["--rank", "8,x"], 2, '--rank takes a whole number, not "x"'],
  [["--rank", "8,8"], 2, "--rank"],
  [["--rank", "4,8", "--resume", "0".repeat(26)], 2, "--resume takes the sessions of its sweep"],
])("%j is wrong usage", async (flags, code, sentence) => {
  const at = await imported();
  expect(await imprint(["sweep", "harborline-gates", ...flags], at)).toMatchObject({
    code,
    stderr: expect.stringContaining(sentence),
  });
});
