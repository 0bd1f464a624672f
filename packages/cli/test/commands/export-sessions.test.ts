import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { findRepoRoot, readSetup } from "@imprint/server";
import { beforeAll, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { EXAMPLES, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

/** A service with two sessions; how a command line ends there. */
async function stocked() {
  const at = await servedPlace();
  await imprint(["import", path.join(EXAMPLES, "harborline-gates.json")], at);
  await imprint(["import", path.join(EXAMPLES, "claude-code")], at);
  const run = (...args: readonly string[]) => imprint(["export-sessions", ...args], at);
  return { run, out: (name: string) => path.join(at.root, name) };
}

const rowsOf = async (file: string) =>
  (await readFile(file, "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

it("writes messages, ATIF trajectories, and a folder for a hub whose test split is the newest", async () => {
  const { run, out } = await stocked();
  const messages = await run("--format", "messages", "--out", out("all.jsonl"));
  expect(messages).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/all\.jsonl: 2 sessions, \d+ of \d+ messages to learn/),
  });
  const rows = await rowsOf(out("all.jsonl"));
  expect(rows).toHaveLength(2);
  expect(rows[0].messages.some(({ weight }: { weight: number }) => weight === 1)).toBe(true);

  expect((await run("harb", "--format", "atif", "--out", out("atif"))).code).toBe(0);
  expect(await readdir(out("atif"))).toEqual(["harborline-gates.json"]);

  const hub = await run("--format", "hub", "--out", out("hub"), "--test", "0.5", "--json");
  expect(JSON.parse(hub.stdout)).toMatchObject({
    format: "hub",
    splits: [
      { name: "train", rows: 1 },
      { name: "test", rows: 1 },
    ],
  });
  expect((await readdir(out("hub"))).sort()).toEqual(["README.md", "data", "redactions.json"]);
  const [train, test] = [await rowsOf(out("hub/data/train.jsonl")), await rowsOf(out("hub/data/test.jsonl"))];
  expect([...train, ...test]).toEqual(rows);
  expect((train[0].started_at ?? "") <= test[0].started_at).toBe(true);
  expect(await readFile(out("hub/README.md"), "utf8")).toContain("- split: test\n        path: data/test.jsonl");
});

/** What the library `datasets` makes of what it loads: rows by split, and the first message with a call. */
const LOADING = `
import json, sys
import datasets
datasets.disable_progress_bars()
path, cache, *file = sys.argv[1:]
loaded = datasets.load_dataset(path, data_files=file[0] if file else None, cache_dir=cache)
rows = [row for split in loaded.values() for row in split]
calls = [message["tool_calls"] for row in rows for message in row["messages"] if message["tool_calls"]]
print(json.dumps({"rows": {name: len(split) for name, split in loaded.items()}, "started": [row["started_at"] for row in rows], "call": calls[0][0]}))
`;

it("is read by the library datasets, whatever the older sessions lack that newer ones have", async () => {
  const at = await servedPlace();
  const history = path.join(at.root, "history.md");
  await writeFile(history, "# aider chat started at 2024-08-01 10:00:00\n\n#### Say hi\n\nHi.\n");
  await imprint(["import", history, path.join(EXAMPLES, "claude-code")], at);
  const setup = readSetup(findRepoRoot());
  if (setup === null) throw new Error("run npm run setup -- --dev first: this test runs the Python package");
  const load = async (...args: readonly string[]) => {
    const env = { ...process.env, HF_HUB_OFFLINE: "1", HF_HOME: path.join(at.root, "hf") };
    const cache = path.join(at.root, "cache");
    const { stdout } = await promisify(execFile)(setup.python, ["-c", LOADING, ...args.toSpliced(1, 0, cache)], { env });
    return JSON.parse(stdout);
  };
  const [hub, file] = [path.join(at.root, "hub"), path.join(at.root, "all.jsonl")];
  expect(await imprint(["export-sessions", "--format", "hub", "--out", hub, "--test", "0.5"], at)).toMatchObject({ code: 0 });
  const call = {
    id: expect.any(String),
    type: "function",
    function: { name: expect.any(String), arguments: expect.any(String) },
  };
  const started = [expect.stringMatching(/^2024-08-01T/), expect.stringMatching(/^20\d\d-.*Z$/)];
  expect(await load(hub)).toEqual({ rows: { train: 1, test: 1 }, started, call });
  await imprint(["export-sessions", "--format", "messages", "--out", file], at);
  expect(await load("json", file)).toMatchObject({ rows: { train: 2 }, call });
});

it("refuses what it cannot do in a sentence, and overwrites nothing without --force", async () => {
  const { run, out } = await stocked();
  await mkdir(out("full"));
  await writeFile(path.join(out("full"), "mine"), "mine");
  for (const [args, sentence] of [
    [["--format", "hub", "--out", out("full")], "is not empty"],
    [["--format", "messages", "--out", out("m.jsonl"), "--test", "0.2"], "--test goes with --format hub"],
    [["--format", "hub", "--out", out("new"), "--test", "0.9"], "--test takes a share from 0 to 0.5"],
    [["nothing-like-it", "--format", "atif", "--out", out("new")], 'there is no session "nothing-like-it"'],
    [["--format", "parquet", "--out", out("new")], "Allowed choices are messages, atif, hub"],
  ] as const)
    expect(await run(...args)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(sentence) });
  expect(await readdir(out("full"))).toEqual(["mine"]);
});

it("with nothing stored says how to store some", async () => {
  const at = await servedPlace();
  const { code, stderr } = await imprint(["export-sessions", "--format", "atif", "--out", path.join(at.root, "out")], at);
  expect(code).toBe(1);
  expect(stderr).toContain("There are no sessions");
});
