import type { WorkerEvent } from "@imprint/contracts";
import type { TaskEvent } from "../runner.js";

type Report = Extract<TaskEvent, { type: "phase" | "plan" | "progress" | "measuring" | "sweep" | "checkpoint" }>;
export type Verdict = Extract<WorkerEvent, { type: "done" | "failed" | "cancelled" }>;
export type JobWorkerEvent = Report | Verdict;

interface TaskEventsOptions {
  readonly onReport: (report: Report) => void;
  readonly onVerdict: (verdict: Verdict) => void;
}

/**
 * The order of one task's events: steps, measurements and checkpoints grow, there is one plan and one verdict. Answers whether the event was taken; what
 * is out of order is passed over, since it can only repeat what is known.
 */
export function createTaskEvents({ onReport, onVerdict }: TaskEventsOptions): (event: JobWorkerEvent) => boolean {
  let step = -1;
  let measured = 0;
  let kept = 0;
  let planned = false;
  let over = false;
  return (event) => {
    if (over) return false;
    if (event.type === "done" || event.type === "failed" || event.type === "cancelled") {
      over = true;
      onVerdict(event);
      return true;
    }
    if (event.type === "progress") {
      if (event.progress.step <= step) return false;
      step = event.progress.step;
    } else if (event.type === "measuring") {
      if (event.measuring.done < measured) return false;
      measured = event.measuring.done;
    } else if (event.type === "checkpoint") {
      if (event.step <= kept) return false;
      kept = event.step;
    } else if (event.type === "plan") {
      if (planned) return false;
      planned = true;
    }
    onReport(event);
    return true;
  };
}
