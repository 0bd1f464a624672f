import type { JobStatus } from "@imprint/contracts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ImprintError } from "../../src/common/error.js";
import type { Job } from "../../src/jobs/job.js";
import { isTerminal, TRANSITIONS } from "../../src/jobs/status.js";
import { createStage, result, type Stage } from "./stage.js";

const SLOTS = 2;
const MAX_QUEUED = 3;
const MAX_JOB_MS = 1000;

/** What the reference knows of a job. */
interface Expected {
  stage: "queued" | "preparing" | "training" | "registering" | "over";
  status: JobStatus;
  code: string | null;
  cancelled: boolean;
  stopped: "JOB_TIMEOUT" | "SHUTTING_DOWN" | null;
  calls: string[];
}

/** The reference: what the documentation says, as a list of jobs and nothing asynchronous. */
class Reference {
  readonly jobs: Expected[] = [];
  closing = false;

  running(): Expected[] {
    return this.jobs.filter(({ status }) => status === "running");
  }

  queued(): Expected[] {
    return this.jobs.filter(({ status }) => status === "queued");
  }

  start(): void {
    for (const job of this.queued().slice(0, SLOTS - this.running().length)) {
      Object.assign(job, { stage: "preparing", status: "running", calls: ["prepare"] });
    }
  }

  stop(job: Expected, reason: Expected["stopped"]): void {
    const first = !job.cancelled && job.stopped === null;
    if (reason === null) job.cancelled = true;
    else if (first) job.stopped = reason;
    if (first && job.stage === "training") job.calls.push("cancel");
  }

  /** The job ends badly, for `code` unless it was stopped. */
  end(job: Expected, code: string, staged: boolean): void {
    if (staged) job.calls.push("discard");
    job.stage = "over";
    job.status = job.cancelled ? "cancelled" : "failed";
    job.code = job.cancelled ? null : (job.stopped ?? code);
    this.start();
  }

  proceed(job: Expected): void {
    if (job.cancelled || job.stopped) this.end(job, "", true);
    else {
      job.stage = job.stage === "preparing" ? "training" : "registering";
      job.calls.push(job.stage === "training" ? "start" : "finish");
    }
  }

  complete(job: Expected): void {
    job.calls.push("discard");
    Object.assign(job, { stage: "over", status: "completed" });
    this.start();
  }
}

type Step =
  | { readonly op: "submit" | "pump" | "timeout" | "close" }
  | { readonly op: "cancel" | "good" | "bad" | "progress" | "ack"; readonly pick: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<Step>({ op: "submit" }, { op: "pump" }) },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ op: "timeout" }, { op: "close" }) },
  {
    weight: 12,
    arbitrary: fc.record({ op: fc.constantFrom("cancel", "good", "good", "bad", "progress", "ack"), pick: fc.nat(30) }),
  },
);

async function perform(stage: Stage, reference: Reference, ids: string[], { op, ...rest }: Step): Promise<void> {
  const index = "pick" in rest ? rest.pick % Math.max(1, ids.length) : -1;
  const id = ids[index] ?? "";
  const job = reference.jobs[index];
  const { jobs, clock } = stage;
  switch (op) {
    case "submit":
      if (reference.closing) expect(() => stage.submit()).toThrow(expect.objectContaining({ code: "SHUTTING_DOWN" }));
      else if (reference.queued().length >= MAX_QUEUED) {
        expect(() => stage.submit()).toThrow(expect.objectContaining({ code: "QUEUE_FULL" }));
      } else {
        ids.push(stage.submit().job_id);
        reference.jobs.push({ stage: "queued", status: "queued", code: null, cancelled: false, stopped: null, calls: [] });
      }
      return; // nothing starts before the start call is answered
    case "pump":
      break;
    case "timeout":
      await stage.settle();
      reference.start();
      clock.advance(MAX_JOB_MS);
      for (const one of reference.running()) reference.stop(one, "JOB_TIMEOUT");
      break;
    case "close":
      void jobs.close(0);
      reference.closing = true;
      for (const one of reference.queued()) Object.assign(one, { stage: "over", status: "failed", code: "SHUTTING_DOWN" });
      for (const one of reference.running()) reference.stop(one, "SHUTTING_DOWN");
      break;
    case "cancel":
      if (!job) expect(() => jobs.cancel(id)).toThrow(expect.objectContaining({ code: "JOB_NOT_FOUND" }));
      else if (job.stage === "over") expect(() => jobs.cancel(id)).toThrow(expect.objectContaining({ code: "JOB_FINISHED" }));
      else {
        expect(jobs.cancel(id).cancel_requested).toBe(true);
        if (job.stage === "queued") Object.assign(job, { stage: "over", status: "cancelled" });
        else reference.stop(job, null);
      }
      break;
    case "progress":
      if (job?.stage === "training") stage.actor(id).tell({ type: "phase", job_id: id, phase: "training" });
      break;
    case "ack":
      if (job?.stage !== "training" || !(job.cancelled || job.stopped)) return;
      stage.actor(id).outcome.resolve({ type: "cancelled" });
      reference.end(job, "", true);
      break;
    case "good":
      if (job?.stage === "preparing") stage.actor(id).prepared.resolve();
      else if (job?.stage === "training") stage.actor(id).outcome.resolve({ type: "done", result });
      else if (job?.stage === "registering") stage.actor(id).finished.resolve();
      if (job?.stage === "registering") reference.complete(job);
      else if (job?.stage === "preparing" || job?.stage === "training") reference.proceed(job);
      break;
    case "bad": {
      const error = new ImprintError("TRAINER_ERROR", "It failed.");
      if (job?.stage === "preparing") stage.actor(id).prepared.reject(error);
      else if (job?.stage === "training") stage.actor(id).outcome.resolve({ type: "failed", error: error.toDetail() });
      else if (job?.stage === "registering") stage.actor(id).finished.reject(error);
      if (job && job.stage !== "queued" && job.stage !== "over") reference.end(job, error.code, job.stage !== "preparing");
      break;
    }
  }
  await stage.settle();
  reference.start();
}

function checkHistory(history: readonly Job[]): void {
  const last = new Map<string, Job>();
  for (const job of history) {
    const before = last.get(job.job_id);
    expect(job.version).toBe((before?.version ?? 0) + 1);
    if (before) expect(Object.values(TRANSITIONS[before.status] ?? {})).toContain(job.status);
    expect(job.adapter_id !== null).toBe(job.status === "completed");
    expect(job.finished_at !== null).toBe(isTerminal(job.status));
    last.set(job.job_id, job);
  }
}

test("whatever happens in whatever order, jobs go as the reference says", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80, size: "max" }), async (steps) => {
      const stage = createStage({ slots: SLOTS, maxQueued: MAX_QUEUED, maxJobMs: MAX_JOB_MS });
      const reference = new Reference();
      const ids: string[] = [];
      for (const one of steps) {
        await perform(stage, reference, ids, one);
        expect(ids.map((id) => stage.jobs.get(id)?.status)).toEqual(reference.jobs.map(({ status }) => status));
        expect(ids.map((id) => stage.jobs.get(id)?.error?.code ?? null)).toEqual(reference.jobs.map(({ code }) => code));
        expect(ids.map((id) => stage.actor(id).calls)).toEqual(reference.jobs.map(({ calls }) => calls));
        const counts = stage.jobs.counts();
        expect(counts.running).toBeLessThanOrEqual(SLOTS);
        expect(Object.values(counts).reduce((sum, count) => sum + count)).toBe(ids.length);
        const all = ids.map((id) => stage.jobs.get(id) as Job);
        const reserved = all.filter(({ reserved_adapter_id }) => stage.jobs.isReserved(String(reserved_adapter_id)));
        expect(reserved).toEqual(all.filter(({ status }) => !isTerminal(status)));
      }
      checkHistory(stage.history);
    }),
    { numRuns: 300 },
  );
});
