import { JobDetails, JobRecord } from "@imprint/contracts";
import { Value } from "typebox/value";
import { describe, expect, test } from "vitest";
import { ImprintError } from "../../src/common/error.js";
import { toDetails, toRecord } from "../../src/jobs/job.js";
import { type Actor, createStage, result, type Stage } from "./stage.js";

/** A job whose training is done, and whose adapter is not registered yet. */
async function trained(stage: Stage, job_id: string): Promise<Actor> {
  const actor = stage.actor(job_id);
  await stage.settle();
  actor.prepared.resolve();
  actor.outcome.resolve({ type: "done", result });
  return actor;
}

/** A job that runs to its end. */
async function complete(stage: Stage, job_id: string): Promise<void> {
  const actor = await trained(stage, job_id);
  actor.finished.resolve();
  await stage.settle();
}

describe("submit", () => {
  test("answers a queued job and starts nothing before it is answered", () => {
    const stage = createStage();
    const job = stage.submit();
    expect(job).toMatchObject({ status: "queued", version: 1, adapter_id: null, started_at: null, phase: null });
    expect(stage.actor(job.job_id).calls).toEqual([]);
    expect(stage.jobs.queuePosition(job.job_id)).toBe(1);
  });

  test("50 at once get 50 ids, listed newest first and started in order", async () => {
    const stage = createStage({ slots: 50 });
    const ids = (await Promise.all(Array.from({ length: 50 }, async () => stage.submit()))).map(({ job_id }) => job_id);
    expect(new Set(ids).size).toBe(50);
    expect(stage.jobs.list({ limit: 50 }).jobs.map(({ job_id }) => job_id)).toEqual([...ids].reverse());
    expect(ids.map((id) => stage.jobs.queuePosition(id))).toEqual(ids.map((_, index) => index + 1));
    await stage.settle();
    const started = stage.history.filter(({ status }) => status === "running").map(({ job_id }) => job_id);
    expect(started).toEqual(ids);
  });

  test("refuses an adapter id that a queued or running job holds, and takes it when that ended", async () => {
    const stage = createStage();
    const { job_id } = stage.submit({ adapter_id: "mine" });
    const again = (): unknown => stage.submit({ adapter_id: "mine" });
    expect(again).toThrow(expect.objectContaining({ code: "ADAPTER_ID_TAKEN" }));
    await stage.settle();
    expect(again).toThrow(expect.objectContaining({ code: "ADAPTER_ID_TAKEN" }));
    await complete(stage, job_id);
    expect(again).not.toThrow();
  });

  test("keeps the request as it was", () => {
    const stage = createStage();
    const request = { seed: 7 };
    const { job_id } = stage.submit({ request });
    request.seed = 8;
    expect(stage.jobs.get(job_id)?.request).toMatchObject({ seed: 7 });
  });
});

test("a job's records say what happened, and fit their schemas", async () => {
  const stage = createStage();
  const { job_id } = stage.submit({ adapter_id: "mine", warnings: ["from the request"] });
  const records = (): unknown[] => {
    const job = stage.jobs.get(job_id);
    if (!job) throw new Error("gone");
    const details = toDetails(job, stage.jobs.queuePosition(job_id));
    expect(Value.Errors(JobDetails, details)).toEqual([]);
    expect(Value.Errors(JobRecord, toRecord(job))).toEqual([]);
    return [toRecord(job), details];
  };
  expect(records()).toMatchObject([{ job_id, status: "queued", adapter_id: null }, { queue_position: 1 }]);
  await stage.settle();
  expect(records()).toMatchObject([
    { status: "running", adapter_id: null },
    { phase: "starting", queue_position: null },
  ]);
  await complete(stage, job_id);
  expect(records()).toMatchObject([
    { status: "completed", adapter_id: "mine" },
    { phase: "registering", warnings: ["from the request", "from the trainer"], proof: result.proof },
  ]);
  expect(stage.history.every(Object.isFrozen)).toBe(true);
});

test("a failed job's record carries the sentence, its details the code and the remedy", async () => {
  const stage = createStage();
  const { job_id } = stage.submit();
  await stage.settle();
  stage.actor(job_id).prepared.reject(new ImprintError("SESSION_NOT_FOUND", "There is no session s."));
  await stage.settle();
  const job = stage.jobs.get(job_id);
  if (!job) throw new Error("gone");
  expect(toRecord(job)).toEqual({ job_id, status: "failed", adapter_id: null, error: "There is no session s." });
  expect(toDetails(job, null).error).toMatchObject({
    code: "SESSION_NOT_FOUND",
    hint: expect.stringContaining("imprint import"),
  });
  expect(Value.Errors(JobDetails, toDetails(job, null))).toEqual([]);
});

test.each([
  [new TypeError("x is undefined at /secret"), "INTERNAL_ERROR"],
  [Object.assign(new Error("no space"), { code: "ENOSPC" }), "DISK_FULL"],
])("a service's own failure is not shown, but logged and coded: %s", async (thrown, code) => {
  const stage = createStage();
  const { job_id } = stage.submit();
  (await trained(stage, job_id)).finished.reject(thrown);
  await stage.settle();
  expect(stage.jobs.get(job_id)).toMatchObject({ status: "failed", error: { code } });
  expect(stage.jobs.get(job_id)?.error?.message).not.toContain(thrown.message);
  expect(stage.actor(job_id).calls).toEqual(["prepare", "start", "finish", "discard"]);
});

test("an adapter that is registered is no failed job when its staging folder cannot be removed: the next start sweeps it", async () => {
  const stage = createStage();
  const { job_id, reserved_adapter_id } = stage.submit();
  const actor = await trained(stage, job_id);
  actor.finished.resolve();
  actor.discard = () => Promise.reject(Object.assign(new Error("busy"), { code: "EBUSY" }));
  await stage.settle();
  expect(stage.jobs.get(job_id)).toMatchObject({ status: "completed", adapter_id: reserved_adapter_id, error: null });
  expect(stage.log.lines).toEqual([expect.stringMatching(/^error: a staging folder could not be removed/)]);
});

describe("cancel against success", () => {
  test("before the files are registered, cancel wins and nothing stays", async () => {
    const stage = createStage();
    const { job_id } = stage.submit();
    await stage.settle();
    const actor = stage.actor(job_id);
    actor.prepared.resolve();
    await stage.settle();
    actor.outcome.resolve({ type: "done", result });
    stage.jobs.cancel(job_id);
    await stage.settle();
    expect(stage.jobs.get(job_id)).toMatchObject({ status: "cancelled", adapter_id: null, error: null });
    expect(actor.calls).toEqual(["prepare", "start", "cancel", "discard"]);
  });

  test("once they are registered, success wins", async () => {
    const stage = createStage();
    const { job_id, reserved_adapter_id } = stage.submit();
    const actor = await trained(stage, job_id);
    await stage.settle();
    expect(stage.jobs.get(job_id)).toMatchObject({ phase: "registering" });
    expect(stage.jobs.cancel(job_id)).toMatchObject({ status: "running", cancel_requested: true });
    actor.finished.resolve();
    await stage.settle();
    expect(stage.jobs.get(job_id)).toMatchObject({ status: "completed", adapter_id: reserved_adapter_id });
  });

  test("cancelling twice changes nothing more", async () => {
    const stage = createStage();
    const { job_id } = stage.submit();
    await stage.settle();
    expect(stage.jobs.cancel(job_id)).toBe(stage.jobs.cancel(job_id));
  });
});

describe("listeners", () => {
  test("hear every change in order, also when one of them changes something or fails", async () => {
    const stage = createStage();
    const heard: string[] = [];
    stage.jobs.subscribe((job) => {
      if (job.status === "running" && !job.cancel_requested) stage.jobs.cancel(job.job_id);
    });
    stage.jobs.subscribe(() => {
      throw new Error("broken");
    });
    const stop = stage.jobs.subscribe(({ version, status }) => heard.push(`${version} ${status}`));
    const { job_id } = stage.submit();
    await stage.settle();
    stage.actor(job_id).prepared.resolve();
    await stage.settle();
    expect(heard).toEqual(["1 queued", "2 running", "3 running", "4 cancelled"]);
    expect(stage.log.lines).toContain("error: a job listener failed");
    stop();
    stage.submit();
    expect(heard).toHaveLength(4);
  });

  test("hear a job's log, whose end is kept by whole lines", async () => {
    const stage = createStage();
    const { job_id } = stage.submit();
    await stage.settle();
    stage.actor(job_id).prepared.resolve();
    await stage.settle();
    const heard: string[] = [];
    stage.jobs.subscribeToLog((id, text) => heard.push(`${id === job_id} ${text.length}`));
    const line = `${"x".repeat(999)}\n`;
    for (let count = 0; count < 100; count += 1) stage.actor(job_id).tell({ type: "log", job_id, text: line });
    expect(heard).toHaveLength(100);
    expect(stage.jobs.log(job_id)).toBe(line.repeat(65));
    expect(stage.jobs.log("unknown")).toBe("");
  });

  test("hear nothing that a runner tells after the outcome", async () => {
    const stage = createStage();
    const { job_id } = stage.submit();
    await complete(stage, job_id);
    const version = stage.jobs.get(job_id)?.version;
    stage.actor(job_id).tell({ type: "phase", job_id, phase: "training" });
    expect(stage.jobs.get(job_id)?.version).toBe(version);
  });
});

describe("finished jobs", () => {
  test("are forgotten by count, with their log; waiting and running ones never", async () => {
    const stage = createStage({ keepFinished: 2, slots: 5 });
    const held = stage.submit().job_id;
    const ended = [1, 2, 3].map(() => stage.submit().job_id);
    for (const id of ended) await complete(stage, id);
    expect([held, ...ended].map((id) => stage.jobs.get(id)?.status)).toEqual(["running", undefined, "completed", "completed"]);
    expect(stage.jobs.counts()).toMatchObject({ running: 1, completed: 2 });
  });

  test("are forgotten by age", async () => {
    const stage = createStage({ keepFinishedMs: 5000 });
    const { job_id } = stage.submit();
    await complete(stage, job_id);
    stage.clock.advance(5000);
    expect(stage.jobs.get(job_id)).toBeDefined();
    stage.clock.advance(1);
    expect(stage.jobs.get(job_id)).toBeUndefined();
    expect(stage.jobs.list({ limit: 10 }).jobs).toEqual([]);
  });
});

test("pages of a list join without gap or overlap, also when the cursor's job is forgotten", async () => {
  const stage = createStage({ keepFinished: 0 });
  const ids = [1, 2, 3, 4, 5].map(() => stage.submit().job_id).reverse();
  const first = stage.jobs.list({ limit: 2 });
  expect(first.jobs.map(({ job_id }) => job_id)).toEqual(ids.slice(0, 2));
  stage.jobs.cancel(String(first.next));
  const rest = stage.jobs.list({ limit: 9, after: String(first.next) });
  expect(rest.jobs.map(({ job_id }) => job_id)).toEqual(ids.slice(2));
  expect(rest.next).toBeNull();
  expect(stage.jobs.list({ limit: 9, status: "running" }).jobs).toEqual([]);
});

describe("close", () => {
  test("fails what waits, lets what runs end in its grace, and leaves no timer", async () => {
    const stage = createStage();
    const [running, waiting] = [stage.submit().job_id, stage.submit().job_id];
    await stage.settle();
    const closed = stage.jobs.close(60_000);
    expect(stage.jobs.get(waiting)).toMatchObject({ status: "failed", error: { code: "SHUTTING_DOWN" } });
    await complete(stage, running);
    await closed;
    expect(stage.jobs.get(running)).toMatchObject({ status: "completed" });
    expect(stage.clock.armed()).toBe(0);
  });

  test("again with less grace stops at once", async () => {
    const stage = createStage();
    const { job_id } = stage.submit();
    await stage.settle();
    stage.actor(job_id).prepared.resolve();
    await stage.settle();
    const closed = Promise.all([stage.jobs.close(60_000), stage.jobs.close(0)]);
    await stage.settle();
    expect(stage.actor(job_id).calls).toEqual(["prepare", "start", "cancel"]);
    stage.actor(job_id).outcome.resolve({ type: "cancelled" });
    await closed;
    expect(stage.jobs.get(job_id)).toMatchObject({ status: "failed", error: { code: "SHUTTING_DOWN" } });
  });

  test("of nothing resolves at once", async () => {
    await createStage().jobs.close(60_000);
  });
});
