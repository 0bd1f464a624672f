import type { ErrorCode } from "@imprint/contracts";
import { describe, expect, test } from "vitest";
import { loraTask, outcomeOf, runnerOn, startWatched } from "../support.js";

/** A settle time that a test never waits out: what the worker does after its verdict decides. */
const DECIDED = { settleMs: 15_000 };

describe("what breaks the protocol fails the task, and the process is not used again", () => {
  const rows: readonly (readonly [what: string, message: RegExp])[] = [
    ["garbage", /not JSON: "Traceback: this is not JSON"/],
    ["huge-line", /longer than 33554432 bytes/],
    ["invalid-utf8", /not UTF-8/],
    ["nul", /not JSON/],
    ["nan", /not JSON/],
    ["infinity", /not JSON/],
    ["overflow", /does not know/],
    ["array", /does not know/],
    ["unknown-type", /does not know/],
    ["extra-key", /does not know/],
    ["path-as-file", /does not know/],
    ["no-proof", /does not know/],
    ["stranger", /a job that it was not given/],
    ["stranger-done", /a job that it was not given/],
    ["unasked-cancel", /nobody cancelled/],
    ["garbage-after-done", /not JSON: "oops"/],
  ];
  test.each(rows)("%s", async (what, message) => {
    const runner = runnerOn("odd.mjs", [what], DECIDED);
    const outcome = await outcomeOf(runner);
    expect(outcome).toMatchObject({
      type: "failed",
      error: { code: "WORKER_PROTOCOL", message: expect.stringMatching(message) },
    });
  });
});

describe("what only repeats what is known is passed over", () => {
  test.each(["done", "blank-lines", "ready-again", "unknown-answer", "unknown-token", "steps", "after-done"])(
    "%s",
    async (what) => {
      const outcome = await outcomeOf(runnerOn("odd.mjs", [what]));
      expect(outcome).toMatchObject({ type: "done", result: { rank: 4 } });
    },
  );

  test("steps that do not grow are not told", async () => {
    const watched = startWatched(runnerOn("odd.mjs", ["steps"]), loraTask());
    await watched.outcome;
    const steps = watched.events.flatMap((event) => (event.type === "progress" ? [event.progress.step] : []));
    expect(steps).toEqual([2, 3, 5]);
  });

  test("nothing is told after the outcome, and late events of a past task do not disturb the next", async () => {
    const runner = runnerOn("odd.mjs", ["after-done"]);
    const first = startWatched(runner, loraTask());
    await first.outcome;
    const told = first.events.length;
    expect(await outcomeOf(runner)).toMatchObject({ type: "done" });
    expect(first.events).toHaveLength(told);
  });
});

describe("a worker that ends", () => {
  const rows: readonly (readonly [what: string, exitCode: string, code: ErrorCode])[] = [
    ["nothing", "0", "WORKER_NO_RESULT"],
    ["half-line", "0", "WORKER_NO_RESULT"],
    ["nothing", "3", "WORKER_CRASHED"],
    ["half-line", "3", "WORKER_CRASHED"],
    ["done", "3", "WORKER_CRASHED"],
  ];
  test.each(rows)("after saying %s, with exit code %s: %s", async (what, exitCode, code) => {
    expect(await outcomeOf(runnerOn("odd.mjs", [what, exitCode], DECIDED))).toMatchObject({ type: "failed", error: { code } });
  });

  test("after its result, with exit code 0, has done its task", async () => {
    expect(await outcomeOf(runnerOn("odd.mjs", ["done", "0"], DECIDED))).toMatchObject({ type: "done" });
  });
});

test("bytes that come one at a time make the same events", async () => {
  expect(await outcomeOf(runnerOn("split.mjs"))).toMatchObject({
    type: "done",
    result: { proof: { remarks: ["naïve – 日本 🙂"] } },
  });
});
