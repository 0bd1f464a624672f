import { type ChildProcess, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { SavedFile } from "./save.js";
import { type StoreRequest, storeFile } from "./store-file.js";

export type StoreAnswer = { readonly saved: SavedFile } | { readonly message: string; readonly code: string | null };

export interface FileStore {
  /** One file after the other, so that two of the same session do not meet. Rejects as `storeFile` does. */
  store(request: StoreRequest): Promise<SavedFile>;
  close(): Promise<void>;
}

/** Importing so many bytes takes the time of a few requests: larger files would keep all others waiting. */
const LARGE = 64 * 1024;

/** About twice what the largest file within the importers' limits was seen to need. One made to need more ends its process, and not the service. */
const HEAP_MB = 768;

/** A process that has nothing to do for so long ends, and its memory is the system's again. */
const IDLE_MS = 10_000;

/** Beside this module, compiled and bundled; not where tests read the sources. */
const PROGRAM = fileURLToPath(new URL("./store-process.js", import.meta.url));

class StoreError extends Error {
  override readonly name = "StoreError";

  constructor(
    message: string,
    readonly code: string | null,
  ) {
    super(message);
  }
}

/** Node ends with SIGABRT (134 where there are no signals) when its heap is full, and a system without memory kills. */
const endOf = (code: number | null, signal: NodeJS.Signals | null): Error =>
  signal === "SIGABRT" || signal === "SIGKILL" || code === 134
    ? new StoreError("The file needs more memory than one import may take; split it.", "SESSION_UNREADABLE")
    : new Error(`the import process ended with ${signal ?? code}`);

const ask = (importer: ChildProcess, request: StoreRequest): Promise<SavedFile> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number | null, signal: NodeJS.Signals | null): void => reject(endOf(code, signal));
    importer.once("error", reject);
    importer.once("exit", onExit);
    importer.once("message", (answer: StoreAnswer) => {
      importer.off("error", reject);
      importer.off("exit", onExit);
      if ("saved" in answer) resolve(answer.saved);
      else reject(new StoreError(answer.message, answer.code));
    });
    importer.send(request);
  });

/** Stores small files at once and large ones in a process, which starts with the first of them. */
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
  const run = async (request: StoreRequest): Promise<SavedFile> => {
    if ((await stat(request.file)).size < LARGE || !existsSync(PROGRAM)) return storeFile(request);
    clearTimeout(idle);
    importer ??= start();
    return ask(importer, request).finally(() => {
      idle = setTimeout(end, IDLE_MS).unref();
    });
  };
  return {
    store: (request) => {
      const next = last.then(() => run(request));
      last = next.catch(() => undefined);
      return next;
    },
    close: async () => end(),
  };
};
