import { readFileSync } from "node:fs";
import { JOB_STATUSES, type JobStatus } from "@imprint/contracts";
import { describe, expect, test } from "vitest";
import { createJob, type Job } from "../../src/jobs/job.js";
import { IllegalTransition, type JobChange, transition } from "../../src/jobs/state-machine.js";
import { isTerminal, TRANSITIONS } from "../../src/jobs/status.js";
import { result } from "./stage.js";

const at = "2026-01-01T00:00:00.000Z";
const EVENTS: readonly JobChange[] = [
  { type: "start", at },
  { type: "request_cancel", at },
  { type: "phase", phase: "training" },
  { type: "plan", plan: {} as Extract<JobChange, { type: "plan" }>["plan"] },
  { type: "progress", progress: {} as Extract<JobChange, { type: "progress" }>["progress"] },
  { type: "sweep", sweep: {} as Extract<JobChange, { type: "sweep" }>["sweep"] },
  { type: "checkpoint", at, step: 3 },
  { type: "complete", at, adapter_id: "a", proof: result.proof, result: null, warnings: [] },
  { type: "fail", at, error: { code: "TRAINER_ERROR", message: "m", hint: "h" }, proof: null },
  { type: "confirm_cancel", at },
];

const queued = createJob({ job_id: "j", kind: "lora", reserved_adapter_id: "a", request: {}, created_at: at });
const inStatus = (status: JobStatus): Job => ({ ...queued, status, cancel_requested: true });

const document = readFileSync(new URL("../../../../docs/operations.md", import.meta.url), "utf8");
const rowOf = (status: string, event: string, next: string): string => `${status} ${event} ${next}`;
const inCode = Object.entries(TRANSITIONS).flatMap(([status, events]) =>
  Object.entries(events ?? {}).map(([event, next]) => rowOf(status, event, String(next))),
);

test("the table of the documentation is the code's", () => {
  const rows = [...document.matchAll(/^\| (queued|running|completed|failed|cancelled) \| (\w+) \| (\w+) \|/gm)];
  expect(rows.map(([, status, event, next]) => rowOf(String(status), String(event), String(next))).sort()).toEqual(inCode.sort());
});

describe.each(JOB_STATUSES)("%s", (status) => {
  test.each(EVENTS)("$type", (event) => {
    const job = inStatus(status);
    const next = TRANSITIONS[status]?.[event.type];
    if (next === undefined) expect(() => transition(job, event)).toThrow(IllegalTransition);
    else {
      const after = transition(job, event);
      expect(after).toMatchObject({ status: next, version: job.version + 1, job_id: "j" });
      expect(after.finished_at).toBe(isTerminal(next) ? at : null);
      expect(Object.isFrozen(after)).toBe(true);
    }
  });
});

test("completed, failed and cancelled are final", () => {
  expect(JOB_STATUSES.filter(isTerminal)).toEqual(["completed", "failed", "cancelled"]);
});

test("nothing is cancelled that nobody cancelled", () => {
  const running = transition(queued, { type: "start", at });
  expect(() => transition(running, { type: "confirm_cancel", at })).toThrow(IllegalTransition);
});
