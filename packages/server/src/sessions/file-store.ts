import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
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

/** Beside this module, compiled and bundled; not where tests read the sources. */
const THREAD = fileURLToPath(new URL("./store-thread.js", import.meta.url));

class StoreError extends Error {
  override readonly name = "StoreError";

  constructor(
    message: string,
    readonly code: string | null,
  ) {
    super(message);
  }
}

const ask = (thread: Worker, request: StoreRequest): Promise<SavedFile> =>
  new Promise((resolve, reject) => {
    const onExit = (): void => reject(new Error("the import thread ended"));
    thread.once("error", reject);
    thread.once("exit", onExit);
    thread.once("message", (answer: StoreAnswer) => {
      thread.off("error", reject);
      thread.off("exit", onExit);
      if ("saved" in answer) resolve(answer.saved);
      else reject(new StoreError(answer.message, answer.code));
    });
    thread.postMessage(request);
  });

/** Stores small files at once and large ones on a thread, which starts with the first of them and stays. */
export const createFileStore = (): FileStore => {
  let thread: Worker | null = null;
  let last: Promise<unknown> = Promise.resolve();

  const start = (): Worker => {
    const started = new Worker(THREAD);
    started.unref();
    started.once("exit", () => {
      thread = null;
    });
    return started;
  };
  const run = (request: StoreRequest): Promise<SavedFile> => {
    if (request.bytes.length < LARGE || !existsSync(THREAD)) return storeFile(request);
    thread ??= start();
    return ask(thread, request);
  };
  return {
    store: (request) => {
      const next = last.then(() => run(request));
      last = next.catch(() => undefined);
      return next;
    },
    close: async () => {
      await thread?.terminate();
    },
  };
};
