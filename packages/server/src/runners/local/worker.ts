import { WORKER_PROTOCOL, type WorkerEvent, type WorkerRequest, type WorkerTask } from "@imprint/contracts";
import type { Clock } from "../../common/clock.js";
import { ImprintError } from "../../common/error.js";
import { defer } from "../../common/promises.js";
import type { Call, CallResult, ChatEvent, Outcome, TaskEvent } from "../runner.js";
import { ProtocolFault } from "./decode-event.js";
import { openLink, type WorkerSettings } from "./link.js";
import type { WorkerProcess } from "./process.js";
import { runTask, type TaskRun } from "./run-task.js";

type Answer = Extract<WorkerEvent, { type: "answer" | "call_failed" }>;
type Told = Extract<WorkerEvent, { type: "prompt" | "token" }>;

/** A field that no other call's result has. */
const MARKS = { preview: "windows", render: "end_tokens", chat: "finish_reason" } as const;

interface Calls {
  /** When `signal` aborts, a chat is cancelled; the promise still settles with what the worker says to that. */
  ask(call: Call, signal?: AbortSignal, onEvent?: (event: ChatEvent) => void): Promise<CallResult>;
  /** Answers whether somebody waited for it. Throws ProtocolFault when nobody asked for that. */
  tell(event: Told): boolean;
  /** Answers whether somebody waited for it. Throws ProtocolFault when it answers another question. */
  receive(answer: Answer): boolean;
  failAll(error: ImprintError): void;
  pending(): number;
}

interface Waiting {
  readonly call: Call;
  readonly onEvent: ((event: ChatEvent) => void) | undefined;
  readonly resolve: (result: CallResult) => void;
  readonly reject: (error: ImprintError) => void;
}

interface CallsOptions {
  readonly send: (request: WorkerRequest) => void;
  readonly clock: Clock;
  readonly cancelGraceMs: number;
  /** A cancelled chat was not answered within the grace period. */
  readonly onIgnored: () => void;
}

/** Questions to a worker and who waits for their answers. */
function createCalls({ send, clock, cancelGraceMs, onIgnored }: CallsOptions): Calls {
  const waiting = new Map<string, Waiting>();
  let count = 0;
  return {
    async ask(call, signal, onEvent) {
      count += 1;
      const call_id = String(count);
      let disarm = (): void => {};
      const cancel = (): void => {
        send({ type: "cancel_call", call_id });
        disarm = clock.after(cancelGraceMs, onIgnored);
      };
      try {
        return await new Promise((resolve, reject) => {
          waiting.set(call_id, { call, onEvent, resolve, reject });
          send({ ...call, call_id });
          if (call.type === "chat") signal?.addEventListener("abort", cancel, { once: true });
        });
      } finally {
        signal?.removeEventListener("abort", cancel);
        disarm();
      }
    },
    tell({ call_id, ...event }) {
      const caller = waiting.get(call_id);
      if (!caller) return false;
      if (caller.call.type !== "chat" || (event.type === "token" && !caller.call.spec.stream))
        throw new ProtocolFault("streamed an answer that is no stream");
      caller.onEvent?.(event);
      return true;
    },
    receive(answer) {
      const caller = waiting.get(answer.call_id);
      if (!caller) return false;
      if (answer.type === "call_failed") caller.reject(ImprintError.from(answer.error));
      else if (!(MARKS[caller.call.type] in answer.result)) {
        throw new ProtocolFault(`answered a ${caller.call.type} with something else`);
      } else caller.resolve(answer.result);
      waiting.delete(answer.call_id);
      return true;
    },
    failAll(error) {
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    },
    pending: () => waiting.size,
  };
}

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

interface Watchdog {
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
