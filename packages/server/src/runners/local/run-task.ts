import type { WorkerEvent, WorkerTask } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";
import { defer } from "../../common/promises.js";
import type { Outcome, TaskEvent } from "../runner.js";
import { isResultOf, ProtocolFault } from "./decode-event.js";
import type { Link, WorkerSettings } from "./link.js";

/** A task in the hands of a worker. */
export interface TaskRun {
  readonly job_id: string;
  /** Hands the task over: the worker takes requests now. */
  send(): void;
  /** Answers whether the event was taken. Throws ProtocolFault. */
  receive(event: JobWorkerEvent): boolean;
  /** The worker is gone; `clean` says that it left with exit code 0. */
  end(reason: ImprintError, clean: boolean): void;
  readonly outcome: Promise<Outcome>;
}

interface RunTaskOptions {
  readonly task: WorkerTask;
  readonly onEvent: (event: TaskEvent) => void;
  /** Aborts when the task has to stop. */
  readonly signal: AbortSignal;
  readonly link: Link;
  readonly settings: Pick<WorkerSettings, "clock" | "cancelGraceMs" | "settleMs">;
}

const SETTLE_MS = 50;

/** One task from its hand-over to its outcome: cancel, its last event, and the worker's death, whichever comes first. */
export function runTask({ task, onEvent, signal, link, settings }: RunTaskOptions): TaskRun {
  const { clock, cancelGraceMs, settleMs = SETTLE_MS } = settings;
  const { job_id } = task;
  const outcome = defer<Outcome>();
  let sent = false;
  let taskEnd: TaskEnd | undefined;
  let disarm: (() => void) | undefined;

  const settle = (value: Outcome): void => {
    disarm?.();
    signal.removeEventListener("abort", stop);
    link.log.unfollow();
    outcome.resolve(value);
  };

  function stop(): void {
    if (taskEnd) return;
    if (!sent) {
      settle({ type: "cancelled" });
      return;
    }
    link.send({ type: "cancel", job_id });
    disarm = clock.after(cancelGraceMs, () => {
      void link.end(new ImprintError("WORKER_SILENT", "The trainer did not stop when it was asked to."), cancelGraceMs);
    });
  }

  const receive = createTaskEvents({
    onReport: onEvent,
    onEnd(event) {
      if (event.type === "cancelled" && !signal.aborted) throw new ProtocolFault("cancelled a job that nobody cancelled");
      if (event.type === "done" && !isResultOf(task, event.result))
        throw new ProtocolFault(`ended a ${task.type} with something else`);
      taskEnd = event;
      disarm?.();
      disarm = clock.after(settleMs, () => {
        if (link.alive()) settle(outcomeOf(event)); // else its end settles
      });
    },
  });

  link.log.follow((text) => onEvent({ type: "log", job_id, text }));
  if (signal.aborted) settle({ type: "cancelled" });
  else signal.addEventListener("abort", stop, { once: true });

  return {
    job_id,
    send() {
      if (signal.aborted) return;
      sent = true;
      link.send(task);
    },
    receive,
    end(reason, clean) {
      if (signal.aborted) settle({ type: "cancelled" });
      else if (taskEnd && (clean || taskEnd.type !== "done")) settle(outcomeOf(taskEnd));
      else settle({ type: "failed", error: reason.toDetail() });
    },
    outcome: outcome.promise,
  };
}

function outcomeOf(taskEnd: TaskEnd): Outcome {
  if (taskEnd.type === "done") return { type: "done", result: taskEnd.result };
  if (taskEnd.type === "failed") return { type: "failed", error: taskEnd.error };
  return { type: "cancelled" };
}
type Report = Extract<TaskEvent, { type: "phase" | "plan" | "progress" | "measuring" | "sweep" | "checkpoint" }>;
type TaskEnd = Extract<WorkerEvent, { type: "done" | "failed" | "cancelled" }>;
export type JobWorkerEvent = Report | TaskEnd;

interface TaskEventsOptions {
  readonly onReport: (report: Report) => void;
  readonly onEnd: (taskEnd: TaskEnd) => void;
}

/**
 * The order of one task's events: steps, measurements and checkpoints grow, there is one plan and one end. Answers whether the event was taken; what
 * is out of order is passed over, since it can only repeat what is known.
 */
export function createTaskEvents({ onReport, onEnd }: TaskEventsOptions): (event: JobWorkerEvent) => boolean {
  let step = -1;
  let measured = 0;
  let kept = 0;
  let planned = false;
  let over = false;
  return (event) => {
    if (over) return false;
    if (event.type === "done" || event.type === "failed" || event.type === "cancelled") {
      over = true;
      onEnd(event);
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
