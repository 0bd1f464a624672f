import { WORKER_PROTOCOL, type WorkerEvent, type WorkerTask } from "@imprint/contracts";
import type { Clock } from "../../common/clock.js";
import { ImprintError } from "../../common/error.js";
import { defer } from "../../common/promises.js";
import type { Call, CallResult, ChatEvent, Outcome, TaskEvent } from "../runner.js";
import { createCalls } from "./calls.js";
import { ProtocolFault } from "./decode-event.js";
import { openLink, type WorkerSettings } from "./link.js";
import type { WorkerProcess } from "./process.js";
import { runTask, type TaskRun } from "./run-task.js";

/** A live trainer. It does one task at a time. */
export interface Worker {
  readonly pid: number | undefined;
  /** False once it ended or has to: give it nothing more. */
  alive(): boolean;
  /** Never rejects. */
  run(task: WorkerTask, onEvent: (event: TaskEvent) => void, signal: AbortSignal): Promise<Outcome>;
  /** Rejects with ImprintError, or with the signal's reason where it aborted before the worker was asked. */
  call(call: Call, signal?: AbortSignal, onEvent?: (event: ChatEvent) => void): Promise<CallResult>;
  /** Ends the process: TERM, then KILL after the grace period. What it was doing fails with `reason`. */
  terminate(reason: ImprintError, graceMs: number): Promise<void>;
  /** Resolves when the process is gone. */
  readonly gone: Promise<void>;
}

const REMEMBERED_TASKS = 16; // whose late events are passed over

/** Works with a process from its start, or its being found again, to its end. */
export function startWorker(process: WorkerProcess, settings: WorkerSettings): Worker {
  const { clock, log, startTimeoutMs, heartbeatTimeoutMs, cancelGraceMs } = settings;
  const ready = defer<void>();
  let isReady = false;
  let run: TaskRun | undefined;
  let past: readonly string[] = [];
  let ignored = 0;

  const link = openLink({ process, settings, onEvent: receive, wasReady: () => isReady });
  const calls = createCalls({
    send: link.send,
    clock,
    cancelGraceMs,
    onIgnored: () => fail("WORKER_SILENT", "The trainer went on with a chat that was cancelled."),
  });
  const watchdog = createWatchdog({
    clock,
    timeoutMs: heartbeatTimeoutMs,
    onSilent: () => fail("WORKER_SILENT", `The trainer said nothing for ${heartbeatTimeoutMs / 1000} seconds.`),
  });
  const disarmStart = clock.after(startTimeoutMs, () =>
    fail("WORKER_START_FAILED", `The trainer was not ready after ${startTimeoutMs / 1000} seconds.`),
  );

  function fail(code: "WORKER_SILENT" | "WORKER_START_FAILED", message: string): void {
    void link.end(new ImprintError(code, message), cancelGraceMs);
  }

  function watch(): void {
    if (isReady && (run || calls.pending() > 0)) watchdog.pat();
    else watchdog.rest();
  }

  function receive(event: WorkerEvent): void {
    if (event.type !== "heartbeat" && !take(event)) {
      ignored += 1;
      log.warn({ pid: link.pid, event: event.type, ignored }, "the trainer repeated itself; ignored");
    }
    watch();
  }

  function take(event: Exclude<WorkerEvent, { type: "heartbeat" }>): boolean {
    if (event.type === "ready") return welcome(event);
    if (!isReady) throw new ProtocolFault(`sent "${event.type}" before "ready"`);
    if (event.type === "prompt" || event.type === "token") return calls.tell(event);
    if (event.type === "answer" || event.type === "call_failed") return calls.receive(event);
    if (event.job_id === run?.job_id) return run.receive(event);
    if (past.includes(event.job_id)) return false;
    throw new ProtocolFault(`sent "${event.type}" of a job that it was not given`);
  }

  function welcome({ protocol, device, versions }: Extract<WorkerEvent, { type: "ready" }>): boolean {
    if (protocol !== WORKER_PROTOCOL) throw new ProtocolFault(`speaks protocol ${protocol}, not ${WORKER_PROTOCOL}`);
    if (isReady) return false;
    isReady = true;
    disarmStart();
    ready.resolve();
    run?.send();
    log.info({ pid: link.pid, device, versions }, "a trainer is ready");
    return true;
  }

  const gone = link.gone.then(({ reason, clean }) => {
    disarmStart();
    watchdog.rest();
    ready.reject(reason);
    run?.end(reason, clean);
    calls.failAll(reason);
    log.info({ pid: link.pid, reason: reason.message }, "a trainer is gone");
  });
  ready.promise.catch(() => {}); // whoever waits for it is told

  const guarded =
    (onEvent: (event: TaskEvent) => void) =>
    (event: TaskEvent): void => {
      try {
        onEvent(event);
      } catch (err) {
        log.error({ err }, "a listener of a task failed");
      }
    };

  return {
    pid: link.pid,
    gone,
    alive: link.alive,
    async run(task, onEvent, signal) {
      if (!link.alive()) return { type: "failed", error: (await link.gone).reason.toDetail() };
      run = runTask({ task, onEvent: guarded(onEvent), signal, link, settings });
      if (isReady) run.send();
      watch();
      const outcome = await run.outcome;
      past = [task.job_id, ...past].slice(0, REMEMBERED_TASKS);
      run = undefined;
      watch();
      return outcome;
    },
    async call(call, signal, onEvent) {
      await ready.promise;
      if (!link.alive()) throw (await link.gone).reason;
      signal?.throwIfAborted();
      const answer = calls.ask(call, signal, onEvent);
      watch();
      return answer.finally(watch);
    },
    terminate: (reason, graceMs) => link.end(reason, graceMs),
  };
}

export interface Watchdog {
  /** The worker gave a sign of life, or there is something new to wait for. */
  pat(): void;
  /** Nothing is expected of the worker. */
  rest(): void;
}

interface WatchdogOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly onSilent: () => void;
}

/** Barks when `timeoutMs` pass without a pat. */
function createWatchdog({ clock, timeoutMs, onSilent }: WatchdogOptions): Watchdog {
  let disarm: (() => void) | undefined;
  const rest = (): void => {
    disarm?.();
    disarm = undefined;
  };
  return {
    pat() {
      rest();
      disarm = clock.after(timeoutMs, () => {
        // After a long block of this process its timers run before its pipes are read: look once more.
        disarm = clock.after(0, onSilent);
      });
    },
    rest,
  };
}
