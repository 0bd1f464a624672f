import fc from "fast-check";
import { expect, test } from "vitest";
import type { EngineJob, Reply } from "../../../src/runners/ray/jobs-api.js";
import { type Limits, lossOf, type Seen } from "../../../src/runners/ray/status.js";

const limits: Limits = { lostAfterMs: 60_000, patienceMs: 300_000, killMs: 20_000 };
const says = (status: EngineJob["status"], error_type: string | null = null): Reply<EngineJob> => ({
  type: "ok",
  value: { submission_id: "s", status, message: "m", error_type },
});
const lastWords = (words: string): Reply<EngineJob> => ({
  type: "ok",
  value: { submission_id: "s", status: "FAILED", message: `Job entrypoint command failed:\nx\n${words}\n`, error_type: null },
});
const down: Reply<EngineJob> = { type: "unreachable", why: "ECONNREFUSED" };
const seen = (more: Partial<Seen>): Seen => ({
  now: 1_000_000,
  started: true,
  lastSign: 1_000_000,
  engine: null,
  killed: null,
  ...more,
});
const since = (reply: Reply<EngineJob>, ago: number): Seen["engine"] => ({ reply, since: 1_000_000 - ago });

const rows: readonly (readonly [name: string, Partial<Seen>, unknown])[] = [
  ["a cut of a minute", { engine: since(down, 60_000), lastSign: 940_000 }, null],
  ["a cut for hours while files grow", { engine: since(down, 9_000_000) }, null],
  ["a cut, and silence", { engine: since(down, 300_000), lastSign: 700_000 }, { code: "CLUSTER_UNREACHABLE", again: false }],
  [
    "silence while it is said to run",
    { engine: since(says("RUNNING"), 1), lastSign: 700_000 },
    { code: "WORKER_SILENT", again: true },
  ],
  ["said to be over while files grow", { engine: since(says("SUCCEEDED"), 900_000) }, null],
  [
    "over without an end",
    { engine: since(says("SUCCEEDED"), 60_000), lastSign: 900_000 },
    { code: "WORKER_NO_RESULT", again: false },
  ],
  [
    "failed without an end",
    { engine: since(says("FAILED"), 60_000), lastSign: 900_000 },
    { code: "WORKER_CRASHED", again: false },
  ],
  [
    "failed without an end, since the node could not store it",
    { engine: since(lastWords("DISK_FULL: the results could not be stored (OSError(28))"), 60_000), lastSign: 900_000 },
    { code: "DISK_FULL", again: false },
  ],
  [
    "failed with a code of ours in the middle of its words",
    { engine: since(lastWords("it said STORAGE_FAILED: x"), 60_000), lastSign: 900_000 },
    { code: "WORKER_CRASHED", again: false },
  ],
  ["stopped by others", { engine: since(says("STOPPED"), 60_000), lastSign: 900_000 }, { code: "CLUSTER_LOST", again: false }],
  [
    "a machine that died",
    { engine: since(says("FAILED", "JOB_SUPERVISOR_ACTOR_DIED"), 60_000), lastSign: 900_000 },
    { code: "CLUSTER_LOST", again: true },
  ],
  [
    "a job nobody knows",
    { engine: since({ type: "missing" }, 60_000), lastSign: 900_000 },
    { code: "CLUSTER_LOST", again: true },
  ],
  ["a job nobody knows, for a moment", { engine: since({ type: "missing" }, 10), lastSign: 900_000 }, null],
];

test.each(rows)("%s", (_name, what, expected) => {
  const loss = lossOf(seen(what), limits);
  const shown = loss?.type === "lost" ? { code: loss.error.code, again: loss.again } : loss;
  expect(shown).toEqual(expected);
});

test("a job whose files grow is never given up, whatever the engine says", () => {
  const replies = fc.constantFrom(down, says("RUNNING"), says("FAILED"), says("STOPPED"), says("SUCCEEDED"), {
    type: "missing",
  } as const);
  fc.assert(
    fc.property(replies, fc.integer({ min: 0, max: 900_000 }), fc.integer({ min: 0, max: 59_999 }), (reply, ago, silence) => {
      expect(lossOf(seen({ engine: since(reply, ago), lastSign: 1_000_000 - silence }), limits)).toBeNull();
    }),
  );
});

test("whoever kills waits for the news, but not for ever", () => {
  const killed = (ago: number, acknowledged: boolean): Partial<Seen> => ({ killed: { at: 1_000_000 - ago, acknowledged } });
  expect(lossOf(seen({ ...killed(10, false), engine: since(says("RUNNING"), 10) }), limits)).toBeNull();
  expect(lossOf(seen({ ...killed(10, true), started: false, engine: since(says("PENDING"), 10) }), limits)).toEqual({
    type: "gone",
  });
  expect(lossOf(seen({ ...killed(10, true), engine: since(says("STOPPED"), 10) }), limits)).toEqual({ type: "gone" });
  expect(lossOf(seen({ ...killed(20_000, false), engine: since(down, 10) }), limits)).toEqual({ type: "gone" });
});
