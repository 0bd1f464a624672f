import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { walk } from "../../src/files/walk.js";
import { dryRun } from "../../src/import/stores.js";

const TRAJECTORY = {
  schema_version: "ATIF-v1.6",
  session_id: "run-1",
  agent: { name: "terminus-2" },
  steps: [
    { step_id: 1, source: "user", message: "Count the gates." },
    { step_id: 2, source: "agent", message: "One gate." },
  ],
};

/** A trial's folder with the trajectory, and these files of its verifier. */
async function trial(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), "imprint-harbor-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries({ "agent/trajectory.json": JSON.stringify(TRAJECTORY), ...files })) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), text);
  }
  return root;
}

const outcomeOf = async (root: string, known = {}): Promise<string | undefined> => {
  const [candidate] = (await walk([path.join(root, "agent")])).candidates;
  const stored = candidate && (await dryRun(known)(candidate, new AbortController().signal));
  return stored?.sessions[0]?.outcome;
};

it.each([
  ["success", { "result.json": '{"trial_name":"t","verifier_result":{"rewards":{"reward":1.0}}}' }],
  ["failure", { "result.json": '{"verifier_result":{"rewards":{"reward":0}}}' }],
  ["unknown", { "result.json": '{"verifier_result":null,"exception_info":{}}' }],
  ["success", { "result.json": "{", "verifier/reward.txt": "1\n" }],
  ["failure", { "verifier/reward.json": '{"reward": 0.0}' }],
  ["unknown", { "verifier/reward.txt": "0.5" }],
  ["unknown", {}],
])("takes the reward of a trial as its outcome: %s of %j", async (outcome, files: Readonly<Record<string, string>>) => {
  expect(await outcomeOf(await trial(files))).toBe(outcome);
});

it("goes by what the caller says where both say something", async () => {
  expect(await outcomeOf(await trial({ "verifier/reward.txt": "1" }), { outcome: "failure" })).toBe("failure");
});
