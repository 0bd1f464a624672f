import type { JobStatus } from "@imprint/contracts";

/** Of the state machine's `JobChange`. */
type ChangeName =
  | "start"
  | "request_cancel"
  | "phase"
  | "plan"
  | "progress"
  | "measuring"
  | "sweep"
  | "checkpoint"
  | "complete"
  | "fail"
  | "confirm_cancel";

/** Which status a change leads to; what is not here is impossible. docs/operations.md draws it, a test compares. */
export const TRANSITIONS: Readonly<Partial<Record<JobStatus, Readonly<Partial<Record<ChangeName, JobStatus>>>>>> = {
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
