import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ERRORS, type ErrorCode } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import type { Answers, TaskName, Tasks } from "./tasks.js";

export interface TaskRequest {
  readonly name: TaskName;
  readonly task: Tasks[TaskName];
}

export type TaskAnswer = { readonly done: Answers[TaskName] } | { readonly message: string; readonly code: string | null };

/** When a task is given up, and its process killed. */
export interface Patience {
  readonly signal?: AbortSignal | undefined;
  /** Of reading, from when a process has the task. */
  readonly seconds?: number | undefined;
}

export interface ProcessPool {
  /** Rejects as the task does, with the signal's reason, or since it takes too long or needs too much memory; its process is gone then. */
  ask(request: TaskRequest, patience?: Patience): Promise<Answers[TaskName]>;
  /** Ends the processes; what they work on rejects. */
  close(): void;
}

/** A process that has nothing to do for so long ends, and its memory is the system's again. */
const IDLE_MS = 10_000;

/** Beside this module, compiled and bundled; not where tests read the sources. */
export const PROGRAM = fileURLToPath(new URL("./store-process.js", import.meta.url));

const isErrorCode = (code: string | null): code is ErrorCode => code !== null && Object.hasOwn(ERRORS, code);

const errorOf = ({ message, code }: { readonly message: string; readonly code: string | null }): Error =>
  isErrorCode(code) ? new ImprintError(code, message) : Object.assign(new Error(message), code !== null && { code });

const tooLong = (seconds: number): ImprintError =>
  new ImprintError("SESSION_UNREADABLE", `Reading the file takes longer than ${seconds} s; split it into smaller files.`);

/** Node ends with SIGABRT (134 where there are no signals) when its heap is full, and a system without memory kills. */
const endOf = (name: TaskName, code: number | null, signal: NodeJS.Signals | null): Error => {
  if (signal !== "SIGABRT" && signal !== "SIGKILL" && code !== 134)
    return new Error(`the process that reads sessions ended with ${signal ?? code}`);
  return name === "import"
    ? new ImprintError("SESSION_UNREADABLE", "The file needs more memory than one import may take; split it.")
    : new ImprintError("SESSION_INVALID", "The stored session needs more memory than the reading of one may take; split it.");
};

const askProcess = (child: ChildProcess, request: TaskRequest, { signal, seconds }: Patience): Promise<Answers[TaskName]> =>
  new Promise((resolve, reject) => {
    let reason: unknown;
    // The answer waits for the process's end: what it wrote is to be removed, and it must write no more.
    const stop = (why: unknown): void => {
      reason ??= why;
      child.kill("SIGKILL");
    };
    const onAbort = (): void => stop(signal?.reason);
    const timer = seconds === undefined ? undefined : setTimeout(() => stop(tooLong(seconds)), seconds * 1000);
    const onExit = (code: number | null, by: NodeJS.Signals | null): void =>
      settle(() => reject(reason ?? endOf(request.name, code, by)));
    const onError = (error: Error): void => settle(() => reject(error));
    const onMessage = (answer: TaskAnswer): void =>
      settle(() => ("done" in answer ? resolve(answer.done) : reject(errorOf(answer))));
    const settle = (end: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      child.off("exit", onExit).off("error", onError).off("message", onMessage);
      end();
    };
    child.once("exit", onExit).once("error", onError).once("message", onMessage);
    signal?.addEventListener("abort", onAbort, { once: true });
    child.send(request);
  });

/** Up to `size` processes that do a task each, started on demand; further tasks wait, first come, first served. */
export const createProcessPool = ({ size, heapMb }: { readonly size: number; readonly heapMb: number }): ProcessPool => {
  const all = new Set<ChildProcess>();
  const idle = new Map<ChildProcess, NodeJS.Timeout>();
  const waiting = new Set<() => void>();
  let busy = 0;

  const forget = (child: ChildProcess): void => {
    all.delete(child);
    clearTimeout(idle.get(child));
    idle.delete(child);
  };
  const start = (): ChildProcess => {
    // What is read is soon garbage: a small young generation collects it before it is memory of the process.
    const execArgv = ["--max-semi-space-size=2", `--max-old-space-size=${heapMb}`];
    const child = fork(PROGRAM, { execArgv, stdio: ["ignore", "ignore", "ignore", "ipc"] });
    all.add(child);
    // Without a listener, an error of a process that could not be started would end the service.
    return child.on("error", () => forget(child)).once("exit", () => forget(child));
  };
  const end = (child: ChildProcess): void => {
    forget(child);
    child.kill();
  };
  const enter = async (signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    if (busy < size) {
      busy += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        waiting.delete(go);
        reject(signal?.reason);
      };
      const go = (): void => {
        waiting.delete(go);
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      waiting.add(go);
      signal?.addEventListener("abort", leave, { once: true });
    });
  };
  const leave = (): void => {
    const [next] = waiting;
    if (next) next();
    else busy -= 1;
  };

  return {
    ask: async (request, patience = {}) => {
      await enter(patience.signal);
      const child = [...idle.keys()].at(-1) ?? start();
      clearTimeout(idle.get(child));
      idle.delete(child);
      try {
        return await askProcess(child, request, patience);
      } finally {
        if (all.has(child) && !child.killed) idle.set(child, setTimeout(() => end(child), IDLE_MS).unref());
        leave();
      }
    },
    close: () => {
      for (const child of all) end(child);
    },
  };
};
