import type { ErrorDetail, JobPhase, JobStatus, Measuring, Progress, Sweep, TrainingPlan } from "@imprint/contracts";
import type { Job } from "./job.js";

/** What changes a job. `at` is an ISO 8601 instant. What streams tell of it is the contracts' `JobEvent`. */
export type JobChange =
  | { readonly type: "start"; readonly at: string }
  | { readonly type: "request_cancel"; readonly at: string }
  | { readonly type: "phase"; readonly phase: JobPhase }
  | { readonly type: "plan"; readonly plan: TrainingPlan }
  | { readonly type: "progress"; readonly progress: Progress }
  | { readonly type: "measuring"; readonly measuring: Measuring }
  | { readonly type: "sweep"; readonly sweep: Sweep }
  | { readonly type: "checkpoint"; readonly at: string; readonly step: number }
  | ({ readonly type: "complete"; readonly at: string; readonly warnings: readonly string[] } & Pick<
      Job,
      "adapter_id" | "proof" | "result"
    >)
  | { readonly type: "fail"; readonly at: string; readonly error: ErrorDetail; readonly proof: Job["proof"] }
  | { readonly type: "confirm_cancel"; readonly at: string };

export class IllegalTransition extends Error {
  constructor(job: Job, change: JobChange) {
    super(`job ${job.job_id} is ${job.status}: ${change.type} is not possible`);
    this.name = "IllegalTransition";
  }
}

/** Which status a change leads to; what is not here is impossible. docs/state-machine.md draws it, a test compares. */
export const TRANSITIONS: Readonly<Partial<Record<JobStatus, Readonly<Partial<Record<JobChange["type"], JobStatus>>>>>> = {
  queued: { start: "running", request_cancel: "cancelled", fail: "failed" },
  running: {
    request_cancel: "running",
    phase: "running",
    plan: "running",
    progress: "running",
    measuring: "running",
    sweep: "running",
    checkpoint: "running",
    complete: "completed",
    fail: "failed",
    confirm_cancel: "cancelled",
  },
};

export function isTerminal(status: JobStatus): boolean {
  return TRANSITIONS[status] === undefined;
}

/** The one way a job changes: the next version of `job` after `change`. Throws IllegalTransition, always for a finished job. */
export function transition(job: Job, change: JobChange): Job {
  const status = TRANSITIONS[job.status]?.[change.type];
  if (!status || (change.type === "confirm_cancel" && !job.cancel_requested)) throw new IllegalTransition(job, change);
  const finished = isTerminal(status) && "at" in change ? { finished_at: change.at } : {};
  return Object.freeze({ ...job, ...changes(job, change), ...finished, status, version: job.version + 1 });
}

function changes(job: Job, change: JobChange): Partial<Job> {
  switch (change.type) {
    case "start":
      return { started_at: change.at, phase: "starting" };
    case "request_cancel":
      return { cancel_requested: true };
    case "phase":
      return { phase: change.phase };
    case "plan":
      return { plan: change.plan };
    case "progress":
      return { progress: change.progress };
    case "measuring":
      return { measuring: change.measuring };
    case "sweep":
      return { result: change.sweep };
    case "checkpoint":
      return { checkpoint: Object.freeze({ step: change.step, at: change.at }) };
    case "complete":
      return {
        adapter_id: change.adapter_id,
        checkpoint: null,
        proof: change.proof,
        result: change.result,
        warnings: Object.freeze([...job.warnings, ...change.warnings]),
      };
    case "fail":
      return { error: change.error, proof: change.proof };
    case "confirm_cancel":
      return {};
  }
}
