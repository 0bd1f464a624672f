import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ErrorCode } from "@imprint/contracts";
import { describe, expect, test } from "vitest";
import { manualClock } from "../../common/manual-clock.js";
import { gone, isAlive } from "../../support/process.js";
import { loraTask, outcomeOf, runnerOn, startStubborn, startWatched, temporaryFolder, workerPath } from "../support.js";

describe("a worker's death fails the running task with what is known", () => {
  const rows: readonly (readonly [how: string, lastLine: string | undefined, code: ErrorCode, message: RegExp])[] = [
    ["3", undefined, "WORKER_CRASHED", /ended with exit code 3.* Its last line: last words$/],
    ["SIGSEGV", undefined, "WORKER_CRASHED", /signal SIGSEGV/],
    ["SIGKILL", undefined, "WORKER_CRASHED", /SIGKILL.*memory/],
    ["137", undefined, "WORKER_CRASHED", /SIGKILL.*memory/],
    ["1", "torch.OutOfMemoryError: CUDA out of memory. Tried", "OUT_OF_MEMORY", /ran out of memory/],
    ["1", "OSError: [Errno 28] No space left on device: '/data/imprint/x.tmp'", "DISK_FULL", /disk.*'x\.tmp'/],
  ];
  test.each(rows)("%s %s: %s", async (how, lastLine, code, message) => {
    const watched = startWatched(runnerOn("dies.mjs", [how, ...(lastLine ? [lastLine] : [])]), loraTask());
    expect(await watched.outcome).toMatchObject({ type: "failed", error: { code, message: expect.stringMatching(message) } });
    expect(watched.logText()).toContain(lastLine ?? "last words");
    expect(watched.logText()).not.toContain("\u001b");
  });

  test("and only that one: the next gets a fresh process", async () => {
    const folder = temporaryFolder();
    const runner = runnerOn("trainer.mjs");
    const deadly = loraTask({ session_paths: [join(folder, "deadly")] });
    writeFileSync(join(folder, "deadly.behaviour.json"), JSON.stringify({ exit: 9 }));
    const first = outcomeOf(runner, deadly);
    const second = outcomeOf(runner, loraTask({ output_dir: folder }));
    expect(await first).toMatchObject({ type: "failed", error: { code: "WORKER_CRASHED" } });
    expect(await second).toMatchObject({ type: "done" });
  });

  test("rejects the calls it had not answered", async () => {
    const runner = runnerOn("dies.mjs", ["5"]);
    const task = outcomeOf(runner);
    const preview = runner.call({
      type: "preview",
      window: null,
      tokens_per_second: null,
      spec: {
        session_paths: [""],
        base_model: "b",
        profile: "remember",
        holdout: "none",
        max_length: 64,
        include_unsuccessful: true,
        session_ids: [],
        skip_invalid: false,
        unreadable: [],
        train_on: "all",
        reasoning: false,
        epochs: null,
        within: null,
        rank: 16,
        target_modules: null,
        quantization: "nf4",
      },
    });
    await expect(preview).rejects.toMatchObject({ name: "ImprintError", code: "WORKER_CRASHED" });
    await task;
  });
});

describe("a worker that cannot be started", () => {
  const rows: readonly (readonly [file: string, message: RegExp])[] = [
    ["/nowhere/to/python", /no program python\.$/],
    [workerPath("odd.mjs"), /odd\.mjs may not be executed\.$/],
    ["nul\0byte", /cannot be started/],
  ];
  test.each(rows)("%s", async (file, message) => {
    const outcome = await outcomeOf(runnerOn("", [], { command: { file, args: [] } }));
    expect(outcome).toMatchObject({ error: { code: "WORKER_START_FAILED", message: expect.stringMatching(message) } });
  });

  const ways: readonly (readonly [way: string, code: ErrorCode, message: RegExp])[] = [
    ["exit", "WORKER_START_FAILED", /exit code 1 before it was ready.*No module named 'imprint_trainer' \(site\.py\)$/],
    ["protocol", "WORKER_PROTOCOL", /speaks protocol 99, not 1/],
    ["early", "WORKER_PROTOCOL", /"answer" before "ready"/],
  ];
  test.each(ways)("because it starts badly: %s", async (way, code, message) => {
    const outcome = await outcomeOf(runnerOn("starts-badly.mjs", [way]));
    expect(outcome).toMatchObject({ type: "failed", error: { code, message: expect.stringMatching(message) } });
  });

  test("in time", async () => {
    const clock = manualClock();
    const outcome = outcomeOf(runnerOn("starts-badly.mjs", ["hang"], { clock, startTimeoutMs: 60_000 }));
    clock.advance(60_000);
    expect(await outcome).toMatchObject({
      error: { code: "WORKER_START_FAILED", message: expect.stringContaining("60 seconds") },
    });
  });
});

test("a worker that falls silent is ended, however alive it is", async () => {
  const clock = manualClock();
  const { outcome, child } = await startStubborn(runnerOn("stubborn.mjs", [], { clock, heartbeatTimeoutMs: 30_000 }));
  expect(isAlive(child)).toBe(true);
  clock.advance(30_000);
  clock.advance(200);
  expect(await outcome).toMatchObject({ error: { code: "WORKER_SILENT", message: expect.stringContaining("30 seconds") } });
  await gone(child);
});

test("a flood on standard error fills neither the memory nor the pipe", async () => {
  const watched = startWatched(runnerOn("flood.mjs", ["1000"]), loraTask());
  await watched.seen(() => true);
  const before = process.memoryUsage().rss;
  expect(await watched.outcome).toMatchObject({ type: "done" });
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  expect(watched.logText().length).toBeLessThan(20 * 1024 * 1024);
  expect(watched.logText()).toMatch(/\[\d+ bytes of log left out\]\n/);
  expect(watched.logText()).toMatch(/the end\n$/);
});
