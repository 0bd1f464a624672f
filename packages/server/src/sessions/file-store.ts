import { type ChildProcess, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { ERRORS, type ErrorCode, type SessionSummary } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import { type Answers, filesOf, type OnSession, runTask, type TaskName, type Tasks } from "./tasks.js";

export interface TaskRequest {
  readonly name: TaskName;
  readonly task: Tasks[TaskName];
}

/** Of a task: the sessions that it imported, and then its end. */
export type TaskAnswer =
  | { readonly session: SessionSummary }
  | { readonly done: Answers[TaskName] }
  | { readonly message: string; readonly code: string | null };

export interface FileStore {
  /** Large files one after the other. Rejects as `runTask` does, and when the task needs more memory than it may have. */
  run<Name extends TaskName>(name: Name, task: Tasks[Name], onSession?: OnSession): Promise<Answers[Name]>;
  close(): Promise<void>;
}

/** Reading so many bytes takes the time of a few requests: larger files would keep all others waiting. */
const LARGE = 64 * 1024;

/** About twice what the largest file within the importers' limits was seen to need. One made to need more ends its process, and not the service. */
const HEAP_MB = 768;

/** A process that has nothing to do for so long ends, and its memory is the system's again. */
const IDLE_MS = 10_000;

/** Beside this module, compiled and bundled; not where tests read the sources. */
const PROGRAM = fileURLToPath(new URL("./store-process.js", import.meta.url));

const isErrorCode = (code: string | null): code is ErrorCode => code !== null && Object.hasOwn(ERRORS, code);

const errorOf = ({ message, code }: { readonly message: string; readonly code: string | null }): Error =>
  isErrorCode(code) ? new ImprintError(code, message) : new Error(message);

/** Node ends with SIGABRT (134 where there are no signals) when its heap is full, and a system without memory kills. */
const endOf = (name: TaskName, code: number | null, signal: NodeJS.Signals | null): Error => {
  if (signal !== "SIGABRT" && signal !== "SIGKILL" && code !== 134)
    return new Error(`the process that reads sessions ended with ${signal ?? code}`);
  return name === "import"
    ? new ImprintError("SESSION_UNREADABLE", "The file needs more memory than one import may take; split it.")
    : new ImprintError("SESSION_INVALID", "The stored session needs more memory than the reading of one may take; split it.");
};

const ask = (importer: ChildProcess, request: TaskRequest, onSession: OnSession): Promise<Answers[TaskName]> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number | null, signal: NodeJS.Signals | null): void => reject(endOf(request.name, code, signal));
    importer.once("error", reject);
    importer.once("exit", onExit);
    importer.on("message", function hear(answer: TaskAnswer) {
      if ("session" in answer) {
        onSession(answer.session);
        return;
      }
      importer.off("error", reject);
      importer.off("exit", onExit);
      importer.off("message", hear);
      if ("done" in answer) resolve(answer.done);
      else reject(errorOf(answer));
    });
    importer.send(request);
  });

/** Bytes of the largest of some files; 0 for one that is gone, which the task says better. */
const largest = async (files: readonly string[]): Promise<number> =>
  Math.max(
    ...(await Promise.all(
      files.map((file) =>
        lstat(file).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    )),
  );

/** Reads small files at once and large ones in a process, which starts with the first of them. */
export const createFileStore = ({ heapMb = HEAP_MB }: { readonly heapMb?: number } = {}): FileStore => {
  let importer: ChildProcess | null = null;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const start = (): ChildProcess => {
    // What is read is soon garbage: a small young generation collects it before it is memory of the process.
    const execArgv = ["--max-semi-space-size=2", `--max-old-space-size=${heapMb}`];
    const started = fork(PROGRAM, { execArgv, stdio: ["ignore", "ignore", "ignore", "ipc"] });
    const forget = (): void => {
      if (importer === started) importer = null;
    };
    // Without a listener, an error of a process that could not be started would end the service.
    started.on("error", forget).once("exit", forget);
    return started;
  };
  const end = (): void => {
    clearTimeout(idle);
    importer?.kill();
    importer = null;
  };
  const askNext = async (request: TaskRequest, onSession: OnSession): Promise<Answers[TaskName]> => {
    clearTimeout(idle);
    importer ??= start();
    return ask(importer, request, onSession).finally(() => {
      idle = setTimeout(end, IDLE_MS).unref();
    });
  };
  return {
    run: async (name, task, onSession = () => undefined) => {
      if ((await largest(filesOf(name, task))) < LARGE || !existsSync(PROGRAM)) return runTask(name, task, onSession);
      const next = last.then(() => askNext({ name, task }, onSession));
      last = next.catch(() => undefined);
      // The process answers one request at a time: the answer is this one's.
      return next as Promise<Answers[typeof name]>;
    },
    close: async () => end(),
  };
};
