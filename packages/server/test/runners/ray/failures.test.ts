import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ErrorCode } from "@imprint/contracts";
import { expect, onTestFinished, test } from "vitest";
import type { TaskEvent } from "../../../src/runners/runner.js";
import { type ManualClock, manualClock } from "../../common/manual-clock.js";
import type { FakeHead } from "../../fixtures/ray/fake-head.js";
import { loraTask, startWatched, temporaryFolder, type Watched } from "../support.js";
import { headOf, rayRunnerOn } from "./support.js";

const task = (spec: Partial<ReturnType<typeof loraTask>["spec"]> = {}) => loraTask({ output_dir: temporaryFolder(), ...spec });
const failedWith = (code: ErrorCode, message: RegExp = /./): unknown => ({
  type: "failed",
  error: expect.objectContaining({ code, message: expect.stringMatching(message) }),
});
const done = expect.objectContaining({ type: "done" });
const isStep = ({ type }: TaskEvent): boolean => type === "progress";
const stepsOf = ({ events }: Watched): readonly number[] =>
  events.flatMap((event) => (event.type === "progress" ? [event.progress.step] : []));
const attemptOf = (head: FakeHead, at = 0): string =>
  String(
    (head.submissions[at] as { runtime_env?: { env_vars?: Record<string, string> } } | undefined)?.runtime_env?.env_vars
      ?.IMPRINT_ATTEMPT,
  );

interface Held {
  readonly head: FakeHead;
  readonly watched: Watched;
  /** Lets the trainer go on. */
  readonly go: () => void;
}

/** A job in mid-training, which waits to go on. */
const held = async (options: Partial<Parameters<typeof rayRunnerOn>[0]> = {}, behaviour: object = {}): Promise<Held> => {
  const head = await headOf();
  const wait_for = join(temporaryFolder(), "go");
  const runner = rayRunnerOn({ args: [JSON.stringify({ wait_for, ...behaviour })], address: head.address, ...options });
  const watched = startWatched(runner, task());
  await watched.seen(isStep);
  return { head, watched, go: () => writeFileSync(wait_for, "") };
};

test("a submission whose answer is lost is made once: its id is taken, and it is followed", async () => {
  const head = await headOf();
  head.behaviour.loseAnswers = 1;
  const watched = startWatched(rayRunnerOn({ address: head.address }), task());
  expect(await watched.outcome).toEqual(done);
  expect(head.submissions).toHaveLength(1);
});

test("tracebacks, dropped sockets and half answers are asked again", async () => {
  const head = await headOf();
  Object.assign(head.behaviour, { tracebacks: 2, dropSockets: 2 });
  expect(await startWatched(rayRunnerOn({ address: head.address }), task()).outcome).toEqual(done);
});

test.each([undefined, "another-token"])(
  "a head that refuses the token %s fails the job at once, and nothing was submitted",
  async (token) => {
    const head = await headOf({ token: "the-token" });
    const runner = rayRunnerOn({ address: head.address, ...(token !== undefined && { token }) });
    expect(await startWatched(runner, task()).outcome).toEqual(failedWith("CLUSTER_REFUSED", /40[13]: .*token/));
    expect(head.submissions).toEqual([]);
  },
);

test("an address without a Jobs API is no cluster", async () => {
  const head = await headOf();
  const runner = rayRunnerOn({ address: `${head.address}/elsewhere` });
  expect(await startWatched(runner, task()).outcome).toEqual(failedWith("CLUSTER_REFUSED", /404/));
});

test("nobody's text is in what the engine's shell reads, and its own token stays out of the trainer", async () => {
  const head = await headOf();
  const one = task({ adapter_id: "a", session_ids: ["$(touch pwned)"] });
  const watched = startWatched(rayRunnerOn({ address: head.address, args: ['{"stderr":"x"}'] }), one);
  await watched.outcome;
  const [submission] = head.submissions;
  expect(submission?.entrypoint).toBe(
    'PYTHONPATH="$IMPRINT_SOURCES" PYTHONSAFEPATH=1 exec "$IMPRINT_PYTHON" -m imprint_node "$IMPRINT_ATTEMPT"',
  );
  expect(JSON.stringify(submission)).not.toContain("pwned");
});

const runningClock = (): ManualClock => {
  const clock = manualClock();
  const driver = setInterval(() => clock.advance(50), 10);
  onTestFinished(() => clearInterval(driver));
  return clock;
};

test("a network cut of a minute loses nothing: unreachable is not failed", async () => {
  const clock = runningClock();
  const limits = { lostAfterMs: 60_000, patienceMs: 300_000, killMs: 10_000 };
  const { head, watched, go } = await held({ clock, limits, askMs: 5000, pollMs: 500 }, { steps: 3 });
  head.behaviour.cut = true;
  clock.advance(60_000);
  head.behaviour.cut = false;
  go();
  expect(await watched.outcome).toEqual(done);
  expect(stepsOf(watched)).toEqual([1, 2, 3]);
  expect(head.submissions).toHaveLength(1);
});

const DAY_MS = 86_400_000;

/** A job in mid-training that is silent when its service's clock is put forward, or back; then it was looked at. */
const shifted = async (ms: number, signal: "SIGSTOP" | "SIGKILL"): Promise<Held> => {
  const clock = runningClock();
  const limits = { lostAfterMs: 10_000, patienceMs: 10_000, killMs: 1000 };
  const one = await held({ clock, limits, attempts: 1, askMs: 1000, pollMs: 500 });
  one.head.behaviour.lies = "RUNNING";
  one.head.kill(signal);
  for (const by of [ms, 0]) {
    await one.head.asked();
    await one.head.asked();
    clock.shift(by);
  }
  return one;
};

test("a clock that is put a day forward makes no job a silent one", async () => {
  const { head, watched, go } = await shifted(DAY_MS, "SIGSTOP");
  head.kill("SIGCONT");
  go();
  expect(await watched.outcome).toEqual(done);
});

test("a job that is silent when the clock is put a day back is lost as soon as any", async () => {
  const { watched } = await shifted(-DAY_MS, "SIGKILL");
  expect(await watched.outcome).toEqual(failedWith("WORKER_SILENT", /said nothing/));
});

test("a job whose head never answers again is finished by its files", async () => {
  const { head, watched, go } = await held();
  head.behaviour.cut = true;
  go();
  expect(await watched.outcome).toEqual(done);
});

test("a head that does not answer fails the job once the job is silent too", async () => {
  const { head, watched } = await held({ limits: { lostAfterMs: 300, patienceMs: 2500, killMs: 300 } });
  head.behaviour.cut = true;
  head.kill("SIGSTOP"); // the supervisor copies nothing any more
  expect(await watched.outcome).toEqual(failedWith("CLUSTER_UNREACHABLE", /does not answer/));
  head.kill("SIGCONT");
});

test.each(["SUCCEEDED", "FAILED", "STOPPED", "PENDING"])(
  "a head that says %s of a job that works is not believed",
  async (lies) => {
    const { head, watched, go } = await held({ limits: { lostAfterMs: 3000, patienceMs: 15_000, killMs: 1000 } });
    head.behaviour.lies = lies;
    await head.asked();
    await head.asked(); // the first answer is in the runner's hands
    go();
    expect(await watched.outcome).toEqual(done);
  },
);

test("a job that the head says is running for ever is lost when its files stand still", async () => {
  const { head, watched } = await held({ attempts: 1, limits: { lostAfterMs: 300, patienceMs: 2500, killMs: 300 } });
  head.behaviour.lies = "RUNNING";
  head.kill("SIGKILL");
  expect(await watched.outcome).toEqual(failedWith("WORKER_SILENT", /said nothing/));
});

test("a killed supervisor fails its job with what Ray says, and leaves no files", async () => {
  const { head, watched } = await held();
  const folder = attemptOf(head);
  head.kill("SIGKILL");
  expect(await watched.outcome).toEqual(failedWith("WORKER_CRASHED", /Ray says: Job entrypoint command failed|left no end/));
  expect(existsSync(folder)).toBe(false);
});

test("a node that dies: the job is tried again from its last checkpoint, and tells each step once", async () => {
  const dir = temporaryFolder();
  const head = await headOf();
  const wait_for = join(temporaryFolder(), "go");
  const runner = rayRunnerOn({ address: head.address, args: [JSON.stringify({ wait_for, checkpoint: true, steps: 4 })] });
  const watched = startWatched(runner, task({ checkpoint: { dir, seconds: 0, start: "fresh" } }));
  await watched.seen(({ type }) => type === "checkpoint");
  head.killNode();
  await head.submitted(2);
  writeFileSync(wait_for, "");
  const { there } = JSON.parse(readFileSync(join(attemptOf(head, 1), "..", "job.json"), "utf8"));
  expect(there.spec.checkpoint.start).toBe("resume");
  expect(await watched.outcome).toEqual(done);
  expect(stepsOf(watched)).toEqual([1, 2, 3, 4]);
  expect(watched.logText()).toContain("It is tried again.");
  expect(readdirSync(dir)).toContain("checkpoint.json");
});

test("a node that dies with the last attempt fails the job with the reason", async () => {
  const { head, watched } = await held({ attempts: 1 });
  head.killNode();
  expect(await watched.outcome).toEqual(failedWith("CLUSTER_LOST", /machine .* is gone/));
});

test("a head that is killed with its processes and starts empty: the job is submitted again under another id", async () => {
  const { head, watched, go } = await held();
  head.restart("killed");
  await head.submitted(2);
  go();
  expect(await watched.outcome).toEqual(done);
  expect(new Set(head.submissions.map(({ submission_id }) => submission_id)).size).toBe(2);
});

test("a head that forgot a job which lives on: it is followed to its end, and not started twice", async () => {
  const { head, watched, go } = await held();
  head.restart("zombies");
  go();
  expect(await watched.outcome).toEqual(done);
  expect(head.submissions).toHaveLength(1);
});

test("a zombie of an attempt that was given up: stops by itself, and its result is refused", async () => {
  const { head, watched, go } = await held({ limits: { lostAfterMs: 700, patienceMs: 60_000, killMs: 1000 } });
  const first = attemptOf(head);
  head.kill("SIGSTOP"); // a machine that nobody hears of
  head.restart("zombies");
  await head.submitted(2);
  head.kill("SIGCONT");
  go();
  expect(await watched.outcome).toEqual(done);
  expect(watched.logText()).toContain("It is tried again.");
  expect(existsSync(join(first, "end.json"))).toBe(false);
});

test("an end that another attempt wrote is refused", async () => {
  const { head, watched, go } = await held();
  const end = {
    token: "0".repeat(32),
    job_id: "another",
    how: { type: "settled" },
    because: null,
    events: { bytes: 0, sha256: "0".repeat(64) },
    log_bytes: 0,
    files: [],
  };
  writeFileSync(join(attemptOf(head), "end.json"), JSON.stringify(end));
  go();
  expect(await watched.outcome).toEqual(done);
});

test("a head whose clock is a day ahead or behind changes nothing", async () => {
  for (const skewMs of [86_400_000, -86_400_000]) {
    const head = await headOf();
    head.behaviour.skewMs = skewMs;
    expect(await startWatched(rayRunnerOn({ address: head.address }), task()).outcome).toEqual(done);
  }
});

test("a job that waits for a machine is cancelled at once, though the engine goes on listing it", async () => {
  const head = await headOf();
  head.behaviour.full = true;
  const watched = startWatched(rayRunnerOn({ address: head.address }), task());
  await head.submitted(1);
  watched.cancel();
  expect(await watched.outcome).toEqual({ type: "cancelled" });
  expect(head.stops).toEqual([head.submissions[0]?.submission_id]);
});

test("a cancel that no head hears ends the job by its files", async () => {
  const { head, watched } = await held({}, { ignore_cancel: true });
  head.behaviour.cut = true;
  watched.cancel();
  expect(await watched.outcome).toEqual({ type: "cancelled" });
});

test("files that are not as the trainer hashed them are refused", async () => {
  const head = await headOf();
  const one = task();
  const args = [JSON.stringify({ damage: "adapter_model.safetensors" })];
  const watched = startWatched(rayRunnerOn({ address: head.address, args }), one);
  expect(await watched.outcome).toEqual(failedWith("ADAPTER_INVALID", /not what the trainer hashed/));
  expect(readdirSync(one.spec.output_dir)).not.toContain("adapter_model.safetensors");
});

test("a storage that cannot be written fails the job with the reason, and nothing is submitted", async () => {
  const head = await headOf();
  const root = join(temporaryFolder(), "file");
  writeFileSync(root, "");
  expect(await startWatched(rayRunnerOn({ address: head.address, root }), task()).outcome).toEqual(
    failedWith("STORAGE_FAILED", /ENOTDIR/),
  );
  expect(head.submissions).toEqual([]);
});
