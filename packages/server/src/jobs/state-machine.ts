import type { ErrorDetail, JobPhase, JobStatus, Progress, TrainingPlan } from "@imprint/contracts";
import type { Job } from "./job.js";

/** What happens to a job. `at` is an ISO 8601 instant. */
export type JobEvent =
  | { readonly type: "start"; readonly at: string }
  | { readonly type: "request_cancel"; readonly at: string }
  | { readonly type: "phase"; readonly phase: JobPhase }
  | { readonly type: "plan"; readonly plan: TrainingPlan }
  | { readonly type: "progress"; readonly progress: Progress }
  | { readonly type: "checkpoint"; readonly at: string; readonly step: number }
  | ({ readonly type: "complete"; readonly at: string; readonly warnings: readonly string[] } & Pick<Job, "proof" | "result">)
  | { readonly type: "fail"; readonly at: string; readonly error: ErrorDetail; readonly proof: Job["proof"] }
  | { readonly type: "confirm_cancel"; readonly at: string };

export class IllegalTransition extends Error {
  constructor(job: Job, event: JobEvent) {
    super(`job ${job.job_id} is ${job.status}: ${event.type} is not possible`);
    this.name = "IllegalTransition";
  }
}

/** Which status an event leads to; what is not here is impossible. docs/state-machine.md draws it, a test compares. */
export const TRANSITIONS: Readonly<Partial<Record<JobStatus, Readonly<Partial<Record<JobEvent["type"], JobStatus>>>>>> = {
  queued: { start: "running", request_cancel: "cancelled", fail: "failed" },
  running: {
    request_cancel: "running",
    phase: "running",
    plan: "running",
    progress: "running",
    checkpoint: "running",
    complete: "completed",
    fail: "failed",
    confirm_cancel: "cancelled",
  },
};

export function isTerminal(status: JobStatus): boolean {
  return TRANSITIONS[status] === undefined;
}

/** The one way a job changes: the next version of `job` after `event`. Throws IllegalTransition, always for a finished job. */
export function transition(job: Job, event: JobEvent): Job {
  const status = TRANSITIONS[job.status]?.[event.type];
  if (!status || (event.type === "confirm_cancel" && !job.cancel_requested)) throw new IllegalTransition(job, event);
  const finished = isTerminal(status) && "at" in event ? { finished_at: event.at } : {};
  return Object.freeze({ ...job, ...changes(job, event), ...finished, status, version: job.version + 1 });
}

function changes(job: Job, event: JobEvent): Partial<Job> {
  switch (event.type) {
    case "start":
      return { started_at: event.at, phase: "starting" };
    case "request_cancel":
      return { cancel_requested: true };
    case "phase":
      return { phase: event.phase };
    case "plan":
      return { plan: event.plan };
    case "progress":
      return { progress: event.progress };
    case "checkpoint":
      return { checkpoint: Object.freeze({ step: event.step, at: event.at }) };
    case "complete":
      return {
        adapter_id: job.reserved_adapter_id,
        checkpoint: null,
        proof: event.proof,
        result: event.result,
        warnings: Object.freeze([...job.warnings, ...event.warnings]),
      };
    case "fail":
      return { error: event.error, proof: event.proof };
    case "confirm_cancel":
      return {};
  }
}
