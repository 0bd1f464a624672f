import type { WorkerTask } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";
import { defer } from "../../common/promises.js";
import type { Outcome, TaskEvent } from "../runner.js";
import { isResultOf, ProtocolFault } from "./decode-event.js";
import type { Link } from "./link.js";
import { createTaskEvents, type JobWorkerEvent, type Verdict } from "./task-events.js";
import type { WorkerSettings } from "./worker-settings.js";

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

/** One task from its hand-over to its outcome: cancel, verdict, and the worker's death, whichever comes first. */
export function runTask({ task, onEvent, signal, link, settings }: RunTaskOptions): TaskRun {
  const { clock, cancelGraceMs, settleMs } = settings;
  const { job_id } = task;
  const outcome = defer<Outcome>();
  let sent = false;
  let verdict: Verdict | undefined;
  let disarm: (() => void) | undefined;

  const settle = (value: Outcome): void => {
    disarm?.();
    signal.removeEventListener("abort", stop);
    link.log.unfollow();
    outcome.resolve(value);
  };

  function stop(): void {
    if (verdict) return;
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
    onVerdict(event) {
      if (event.type === "cancelled" && !signal.aborted) throw new ProtocolFault("cancelled a job that nobody cancelled");
      if (event.type === "done" && !isResultOf(task, event.result))
        throw new ProtocolFault(`ended a ${task.type} with something else`);
      verdict = event;
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
      else if (verdict && (clean || verdict.type !== "done")) settle(outcomeOf(verdict));
      else settle({ type: "failed", error: reason.toDetail() });
    },
    outcome: outcome.promise,
  };
}

function outcomeOf(verdict: Verdict): Outcome {
  if (verdict.type === "done") return { type: "done", result: verdict.result };
  if (verdict.type === "failed") return { type: "failed", error: verdict.error };
  return { type: "cancelled" };
}
