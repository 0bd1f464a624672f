import { execFile } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { findRepoRoot, readSetup } from "@imprint/server/configuration";
import { beforeAll, expect, it, vi } from "vitest";
import { running, sessionOf, user } from "../privacy/support.js";
import { build } from "../support/build.js";
import { imprint, start } from "../support/imprint.js";
import { type Place, place } from "../support/service.js";

vi.setConfig({ testTimeout: 120_000 });
beforeAll(build, 120_000);

const RECORD = {
  method: "lora",
  task_type: "code-gen",
  sessions: [{ session_id: "s1", sha256: "0".repeat(64) }],
  selection: { train_on: "all", reasoning: false, include_unsuccessful: false },
  config: {
    ...{ seed: 7, epochs: 40, rank: 16, alpha: 32, learning_rate: 0.02 },
    ...{ target_modules: null, max_length: 512, quantization: "none" },
  },
  base_model: { name: "tiny-model" },
};

const put = async (folder: string, name: string, value: unknown): Promise<void> => {
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, name), JSON.stringify(value));
};

/** A place with an adapter `a1`, as far as its record goes, and its session. Temporary files are made in its root. */
async function recordedPlace(record: unknown = RECORD): Promise<Place> {
  const at = await place();
  await put(path.join(at.dataDir, "adapters", "a1"), "training.json", record);
  const steps = [user("Set the key."), running("I look.", "ls", "a.txt"), user("And?"), running("", "make", "done")];
  await put(path.join(at.dataDir, "sessions"), "s1.json", sessionOf(steps));
  await mkdir(path.join(at.root, "tmp"));
  return { ...at, env: { ...at.env, TMPDIR: path.join(at.root, "tmp") } };
}

/** The same with the interpreter that the set-up prepared, and a tiny model that it makes. */
async function realPlace(): Promise<Place> {
  const at = await recordedPlace();
  const python = readSetup(findRepoRoot())?.python ?? "the set-up has not run";
  const trainer = path.join(findRepoRoot(), "trainer");
  const write =
    "import sys; from pathlib import Path; from tiny_model import write_tiny_model; write_tiny_model(Path(sys.argv[1]))";
  const env = { ...process.env, PYTHONPATH: path.join(trainer, "tests") };
  await promisify(execFile)(python, ["-c", write, path.join(at.root, "tiny-model")], { env });
  return { ...at, env: { ...at.env, IMPRINT_PYTHON: python } };
}

/** What the command left among the temporary files; torch has a folder of its own there. */
const leftIn = async ({ env }: Place): Promise<readonly string[]> =>
  (await readdir(env.TMPDIR ?? "")).filter((name) => name.startsWith("imprint"));

it("canaries are planted, trained on and asked for: they come back from the unredacted copy only", async () => {
  const at = await realPlace();
  const { code, stdout, stderr } = await imprint(["privacy", "a1", "--canaries", "2", "--seed", "5", "--json"], at);
  expect(stderr).toContain("training on the redacted copy");
  expect(stderr).toContain("Session s1 is not what the adapter was trained on");
  const { canaries, summary } = JSON.parse(stdout);
  expect(canaries).toHaveLength(2);
  for (const one of canaries) expect(one).toMatchObject({ seed: 5, session_id: "s1", is_redacted: true, learned: true });
  expect(summary.written.unredacted).toMatchObject({ canaries: 2, extracted: 2, median_rank: 1 });
  expect(summary.written.redacted).toMatchObject({ canaries: 2, extracted: 0 });
  expect(summary.written.base).toMatchObject({ canaries: 2, extracted: 0 });
  expect(summary.read).toEqual({ base: null, unredacted: null, redacted: null });
  expect(code).toBe(0);
  expect(await leftIn(at)).toEqual([]);
});

it("an interrupt ends it and leaves nothing behind", async () => {
  const at = await realPlace();
  const { child, ended, said } = start(["privacy", "a1"], at.env);
  await said("asking the base model");
  child.kill("SIGINT");
  const { code, stdout, stderr } = await ended;
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("Interrupted: nothing was kept.");
  expect(stderr).not.toContain("Traceback");
  expect(await leftIn(at)).toEqual([]);
});

it.each([
  ["false", "The trainer could not do it: what it said stands above."],
  ["no-such-python", "The trainer's Python did not run: no-such-python. npx imprint doctor says what is missing."],
])("a trainer that is %j ends it with a sentence and leaves nothing behind", async (python, sentence) => {
  const at = await recordedPlace();
  const { code, stderr } = await imprint(["privacy", "a1"], { env: { ...at.env, IMPRINT_PYTHON: python } });
  expect([code, stderr]).toEqual([1, expect.stringContaining(sentence)]);
  expect(await leftIn(at)).toEqual([]);
});

it.each([
  [["privacy", "absent"], 1, "absent is neither the id of an adapter in"],
  [["privacy", "a1", "--canaries", "0"], 2, '--canaries takes a whole number from 1 to 32, not "0"'],
  [["privacy", "a1", "--seed", "1", "x"], 2, '--seed takes a whole number from 0 to 4294967295, not "x"'],
] as const)("imprint %j ends with a sentence", async (args, expected, sentence) => {
  const at = await recordedPlace();
  const { code, stderr } = await imprint(args, at);
  expect([code, stderr]).toEqual([expected, expect.stringContaining(sentence)]);
});

it.each([
  ["another base model", { ...RECORD, base_model: { name: "absent" } }, "The base model absent is not prepared here."],
  [
    "a session that is gone",
    { ...RECORD, sessions: [{ ...RECORD.sessions[0], session_id: "gone" }] },
    'There is no session "gone".',
  ],
  ["a hypernetwork", { method: "hypernetwork" }, "made in one pass by a hypernetwork"],
  ["a record that is none", { ...RECORD, config: {} }, "/config/seed is required"],
])("an adapter of %s cannot be measured, and the sentence says why", async (_, record, sentence) => {
  const at = await recordedPlace(record);
  const { code, stderr } = await imprint(["privacy", "a1"], at);
  expect([code, stderr]).toEqual([1, expect.stringContaining(sentence)]);
});
