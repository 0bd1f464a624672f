/** `npm run check-ray` runs this on two nodes of this machine: real trainings whose processes are on both. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { LoraTask } from "@imprint/contracts";
import { beforeAll, expect, test, vi } from "vitest";
import { loraTask, runnerOn, startWatched, temporaryFolder } from "../support.js";
import { PYTHON, rayRunnerOn, SOURCES } from "./support.js";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 600_000 });
const { RAY_CHECK_ADDRESS: address = "", RAY_CHECK_TOKEN: token = "", RAY_CHECK_CONTROL: control = "" } = process.env;
const { RAY_CHECK_PYTHON: launcher = "" } = process.env;
const TESTS = fileURLToPath(new URL("../../../../../trainer/tests", import.meta.url));
const SERVE = ["-m", "imprint_trainer", "serve", "--device", "cpu", "--no-warm", "--threads", "1"];
/** A tiny model, and a session whose steps are of two windows. */
const PREPARE =
  "import sys; from pathlib import Path; from tiny_model import write_tiny_model; from jobs.test_processes import job_of; " +
  "folder = Path(sys.argv[1]); write_tiny_model(folder / 'model'); job_of(120, folder / 'model', folder)";
const CLOSE = 1e-4;

const tell = async (what: "start" | "add-node" | "kill-node"): Promise<void> => {
  const response = await fetch(`${control}/${what}`, { method: "POST" });
  if (!response.ok) throw new Error(await response.text());
};

const prepared = (epochs: number): (() => LoraTask) => {
  const folder = temporaryFolder();
  const env = { ...process.env, PYTHONPATH: [SOURCES, TESTS].join(":") };
  execFileSync(PYTHON, ["-c", PREPARE, folder], { env, stdio: "ignore" });
  const checkpoint = { dir: join(folder, "checkpoint"), seconds: 3600, start: "fresh" as const };
  const inputs = { session_paths: [join(folder, "s.json")], base_model: join(folder, "model"), checkpoint, max_length: 256 };
  return () => loraTask({ ...inputs, epochs, rank: 2, output_dir: temporaryFolder() });
};

const onNodes = (args: readonly string[] = [], patience_seconds = 120) =>
  rayRunnerOn({
    address,
    token,
    command: [PYTHON, ...SERVE],
    resources: async () => ({
      cpus: 1,
      gpus: 0,
      memory: null,
      args: ["--nodes", "2", ...args],
      nodes: { cpus: 1, gpus: 0, memory: null, python: launcher, patience_seconds },
    }),
    limits: { lostAfterMs: 15_000, patienceMs: 120_000, killMs: 30_000 },
    startTimeoutMs: 60_000,
    cancelGraceMs: 10_000,
    askMs: 500,
  });

const result = (folder: string): { losses: number[]; weights: Float32Array } => {
  const { losses } = JSON.parse(readFileSync(join(folder, "training.json"), "utf8"));
  const file = readFileSync(join(folder, "adapter_model.safetensors"));
  const start = 8 + Number(file.readBigUInt64LE(0));
  return { losses, weights: new Float32Array(file.buffer.slice(file.byteOffset + start, file.byteOffset + file.length)) };
};

beforeAll(async () => {
  if (address === "") throw new Error("npm run check-ray starts a head for this");
  await tell("start");
  await tell("add-node");
});

test.each([
  { kind: "whole", args: [] },
  { kind: "in shards", args: ["--shard-base"] },
])("a training on two nodes, its base $kind, is that of one process", async ({ args }) => {
  const task = prepared(2);
  const [here, there] = [task(), task()];
  const local = runnerOn("", [], {
    command: { file: PYTHON, args: SERVE, env: { PYTHONPATH: SOURCES } },
    startTimeoutMs: 60_000,
    heartbeatTimeoutMs: 60_000,
  });
  expect(await startWatched(local, here).outcome).toMatchObject({ type: "done" });
  const watched = startWatched(onNodes(args), there);
  expect(await watched.outcome, watched.logText()).toMatchObject({ type: "done" });
  const plan = watched.events.find(({ type }) => type === "plan");
  expect(plan).toMatchObject({ plan: { processes: 2, accumulation: 2, ...(args.length > 0 && { shard_base: true }) } });
  const [one, two] = [result(here.spec.output_dir), result(there.spec.output_dir)];
  const furthest = (ours: ArrayLike<number>, theirs: ArrayLike<number>): number =>
    Math.max(...Array.from(ours, (value, at) => Math.abs(value - Number(theirs[at]))));
  expect(two.losses).toHaveLength(one.losses.length);
  expect(furthest(one.losses, two.losses)).toBeLessThan(CLOSE);
  expect(two.weights).toHaveLength(one.weights.length);
  expect(furthest(one.weights, two.weights)).toBeLessThan(CLOSE);
});

test("a node that is lost fails the training with the reason, and a cluster without a second one says so", async () => {
  const task = prepared(100);
  const watched = startWatched(onNodes(), task());
  await Promise.race([watched.seen(({ type }) => type === "progress"), watched.outcome]);
  await tell("kill-node");
  expect(await watched.outcome).toMatchObject({
    type: "failed",
    error: { code: "WORKER_CRASHED", message: expect.stringMatching(/^process 2 of 2, on another node: its node/) },
  });
  expect(await startWatched(onNodes([], 5), task()).outcome).toMatchObject({
    type: "failed",
    error: { code: "WORKER_CRASHED", message: expect.stringMatching(/for 5 seconds the cluster had not 1 more with 1 CPU free/) },
  });
});
