import { spawn as spawnChild } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { Spawn } from "../../../src/runners/local/process.js";
import { manualClock } from "../../common/manual-clock.js";
import { gone, isAlive } from "../../support/process.js";
import { chatCall, loraTask, outcomeOf, runnerOn, startStubborn, startWatched, temporaryFolder } from "../support.js";

/** A spawn that counts. */
function countingSpawn(): { readonly spawn: Spawn; readonly count: () => number } {
  let count = 0;
  const spawn = ((...args: Parameters<typeof spawnChild>) => {
    count += 1;
    return spawnChild(...args);
  }) as unknown as Spawn;
  return { spawn, count: () => count };
}

test("a task cancelled while its worker starts never reaches it, and the worker serves the next", async () => {
  const folder = temporaryFolder();
  const { spawn, count } = countingSpawn();
  const runner = runnerOn("trainer.mjs", [JSON.stringify({ ready_after: join(folder, "go") })], { spawn });
  const cancelled = startWatched(runner, loraTask());
  await Promise.resolve();
  expect(count()).toBe(1);
  cancelled.cancel();
  expect(await cancelled.outcome).toEqual({ type: "cancelled" });
  const next = outcomeOf(runner, loraTask({ output_dir: folder }));
  writeFileSync(join(folder, "go"), "");
  expect(await next).toMatchObject({ type: "done" });
  expect(count()).toBe(1);
  expect(cancelled.events).toEqual([]);
});

test("a task cancelled while it waits for a worker starts none", async () => {
  const folder = temporaryFolder();
  const { spawn, count } = countingSpawn();
  const runner = runnerOn("trainer.mjs", [JSON.stringify({ wait_for: join(folder, "go") })], { spawn });
  const first = startWatched(runner, loraTask({ base_model: "one", output_dir: folder }));
  await first.seen(({ type }) => type === "progress");
  const second = runner.start(loraTask({ base_model: "two" }), () => {});
  second.cancel();
  expect(await second.outcome).toEqual({ type: "cancelled" });
  writeFileSync(join(folder, "go"), "");
  expect(await first.outcome).toMatchObject({ type: "done" });
  expect(count()).toBe(1);
});

test.each(["training", "saving"])("a task cancelled in %s stops, and its worker lives on", async (wait_in) => {
  const folder = temporaryFolder();
  const { spawn, count } = countingSpawn();
  const go = join(folder, "go");
  const patient = { spawn, cancelGraceMs: 15_000 }; // it hears of the cancel however busy the machine is
  const runner = runnerOn("trainer.mjs", [JSON.stringify({ wait_for: go, wait_in })], patient);
  const watched = startWatched(runner, loraTask({ output_dir: folder }));
  await watched.seen((event) => event.type === "phase" && event.phase === wait_in);
  watched.cancel();
  watched.cancel();
  expect(await watched.outcome).toEqual({ type: "cancelled" });
  writeFileSync(go, "");
  expect(await outcomeOf(runner, loraTask({ output_dir: folder }))).toMatchObject({ type: "done" });
  expect(count()).toBe(1);
});

test("a cancel after the outcome changes nothing", async () => {
  const runner = runnerOn("trainer.mjs");
  const watched = startWatched(runner, loraTask({ output_dir: temporaryFolder() }));
  const outcome = await watched.outcome;
  watched.cancel();
  expect(outcome).toMatchObject({ type: "done" });
  expect(await outcomeOf(runner, loraTask({ output_dir: temporaryFolder() }))).toMatchObject({ type: "done" });
});

test("a worker that goes on with a cancelled chat is replaced after the grace", async () => {
  const folder = temporaryFolder();
  const held = join(folder, "held");
  const { spawn, count } = countingSpawn();
  const clock = manualClock();
  const behaviour = { hold_chats: held, ignore_cancel: true };
  const runner = runnerOn("trainer.mjs", [JSON.stringify(behaviour)], { spawn, clock, cancelGraceMs: 5000 });
  const caller = new AbortController();
  const answer = runner.call(chatCall(), caller.signal);
  await vi.waitFor(() => expect(existsSync(held)).toBe(true));
  caller.abort(new Error("left"));
  await expect(answer).rejects.toThrow("left");
  const next = startWatched(runner, loraTask({ output_dir: folder }));
  expect(count()).toBe(1);
  clock.advance(5000);
  await next.seen(({ type }) => type === "progress");
  expect(count()).toBe(2);
});

test("a worker that ignores cancel and TERM is killed after both graces, with all it started", async () => {
  const clock = manualClock();
  const watched = await startStubborn(runnerOn("stubborn.mjs", [], { clock, cancelGraceMs: 5000 }));
  watched.cancel();
  clock.advance(5000);
  expect(isAlive(watched.child)).toBe(true);
  clock.advance(5000);
  expect(await watched.outcome).toEqual({ type: "cancelled" });
  await gone(watched.child);
});

test("closing kills what does not stop, fails the task with SHUTTING_DOWN, and takes no more", async () => {
  const runner = runnerOn("stubborn.mjs");
  const watched = await startStubborn(runner);
  const waiting = outcomeOf(runner, loraTask({ base_model: "other" }));
  await runner.close(100);
  expect(await watched.outcome).toMatchObject({ type: "failed", error: { code: "SHUTTING_DOWN" } });
  expect(await waiting).toMatchObject({ type: "failed", error: { code: "SHUTTING_DOWN" } });
  await gone(watched.child);
  expect(await outcomeOf(runner)).toMatchObject({ type: "failed", error: { code: "SHUTTING_DOWN" } });
});
