import { spawn as spawnChild } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { Spawn } from "../../../src/runners/local/process.js";
import type { ChatCall, PreviewCall } from "../../../src/runners/runner.js";
import { isAlive } from "../../support/process.js";
import { chatCall, loraTask, outcomeOf, runnerOn, startWatched, temporaryFolder, userSays, workerPath } from "../support.js";

/** A spawn that remembers the ids of its processes. */
function recordingSpawn(): { readonly spawn: Spawn; readonly pids: number[] } {
  const pids: number[] = [];
  const spawn = ((...args: Parameters<typeof spawnChild>) => {
    const child = spawnChild(...args);
    pids.push(Number(child.pid));
    return child;
  }) as unknown as Spawn;
  return { spawn, pids };
}

const preview = (base_model: string, session_path = "/nowhere"): PreviewCall => ({
  type: "preview",
  window: null,
  tokens_per_second: null,
  spec: {
    session_paths: [session_path],
    base_model,
    profile: "remember",
    holdout: "none",
    max_length: 64,
    include_unsuccessful: false,
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

const chat = (base_model: string, content: string): ChatCall => chatCall({ base_model, messages: [userSays(content)] });

test("tasks of one base model share a process; another base model's process starts when the first is gone", async () => {
  const { spawn, pids } = recordingSpawn();
  const output_dir = temporaryFolder();
  const runner = runnerOn("trainer.mjs", [], { spawn });
  await outcomeOf(runner, loraTask({ base_model: "one", output_dir }));
  await outcomeOf(runner, loraTask({ base_model: "one", output_dir }));
  expect(pids).toHaveLength(1);
  await outcomeOf(runner, loraTask({ base_model: "two", output_dir }));
  expect(pids.map(isAlive)).toEqual([false, true]);
});

test("with room for two, two tasks of one base model run side by side", async () => {
  const { spawn, pids } = recordingSpawn();
  const output_dir = temporaryFolder();
  const go = join(output_dir, "go");
  const runner = runnerOn("trainer.mjs", [JSON.stringify({ wait_for: go })], { spawn, maxWorkers: 2 });
  const tasks = [1, 2].map(() => startWatched(runner, loraTask({ output_dir })));
  await Promise.all(tasks.map((task) => task.seen(({ type }) => type === "progress")));
  expect(pids.map(isAlive)).toEqual([true, true]);
  writeFileSync(go, "");
  expect(await Promise.all(tasks.map(({ outcome }) => outcome))).toMatchObject([{ type: "done" }, { type: "done" }]);
});

test("previews and chats are answered while a task runs: chats by a process of their own, which ends when nobody talks", async () => {
  const folder = temporaryFolder();
  const go = join(folder, "go");
  const session = join(folder, "s.json");
  writeFileSync(session, "{}");
  const { spawn, pids } = recordingSpawn();
  const runner = runnerOn("trainer.mjs", [JSON.stringify({ wait_for: go })], { spawn, talkerRestMs: 1 });
  const task = startWatched(runner, loraTask({ output_dir: folder }));
  await task.seen(({ type }) => type === "progress");
  expect(await runner.call(preview("other", session))).toMatchObject({ windows: 2, max_steps: 3 });
  expect(pids).toHaveLength(1);
  expect(await runner.call(chat("tiny", "hello"))).toMatchObject({ text: "base: hello" });
  expect(await runner.call(chat("other", "you too"))).toMatchObject({ text: "base: you too" });
  const [trainer, ...talkers] = pids;
  await vi.waitFor(() => expect(talkers.map(isAlive)).not.toContain(true), { timeout: 10_000 });
  expect(isAlive(trainer as number)).toBe(true);
  writeFileSync(go, "");
  expect(await task.outcome).toMatchObject({ type: "done" });
});

test("a chat takes the process that a task has left warm", async () => {
  const { spawn, pids } = recordingSpawn();
  const runner = runnerOn("trainer.mjs", [], { spawn });
  await outcomeOf(runner, loraTask({ base_model: "one", output_dir: temporaryFolder() }));
  expect(await runner.call(chat("one", "hello"))).toMatchObject({ text: "base: hello" });
  expect(pids).toHaveLength(1);
});

test("a call that the worker refuses rejects with the worker's error, and the next is answered", async () => {
  const runner = runnerOn("trainer.mjs");
  await expect(runner.call(preview("tiny"))).rejects.toMatchObject({ name: "ImprintError", code: "SESSION_INVALID" });
  expect(await runner.call(chat("tiny", "still there"))).toMatchObject({ text: "base: still there" });
});

test("a caller that leaves while it waits for a worker frees its place", async () => {
  const folder = temporaryFolder();
  const go = join(folder, "go");
  const runner = runnerOn("trainer.mjs", [JSON.stringify({ wait_for: go })]);
  const task = startWatched(runner, loraTask({ output_dir: folder }));
  await task.seen(({ type }) => type === "progress");
  const leaving = new AbortController();
  const left = runner.call(chat("tiny", "never mind"), leaving.signal);
  const stays = runner.call(chat("tiny", "me"));
  leaving.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  writeFileSync(go, "");
  await task.outcome;
  expect(await stays).toMatchObject({ text: "base: me" });
});

test("200 runners started and closed leave no process and no listener", async () => {
  const { spawn, pids } = recordingSpawn();
  const listeners = process.listenerCount("exit");
  const command = { file: "/bin/sh", args: [workerPath("fast.sh")] };
  for (let round = 0; round < 200; round += 1) {
    const runner = runnerOn("", [], { spawn, command, settleMs: 0 });
    const outcome = outcomeOf(runner);
    if (round % 4 !== 0) expect(await outcome).toMatchObject({ type: "done" });
    await Promise.all([runner.close(round % 2 ? 1000 : 0), runner.close(1000)]);
    await outcome;
  }
  expect(pids.filter(isAlive)).toEqual([]);
  expect(pids.length).toBeGreaterThanOrEqual(150);
  expect(process.listenerCount("exit")).toBe(listeners);
  await new Promise(setImmediate); // the last handle closes at the end of a turn of the event loop
  await new Promise(setImmediate);
  expect(process.getActiveResourcesInfo().filter((resource) => resource === "ProcessWrap")).toEqual([]);
});
