import { parentPort } from "node:worker_threads";
import type { StoreAnswer } from "./file-store.js";
import { type StoreRequest, storeFile } from "./store-file.js";

/** The thread that large files are imported on: a program of its own, which answers each request before the next. */
parentPort?.on("message", async (request: StoreRequest) => {
  const answer = await storeFile(request).then(
    (saved): StoreAnswer => ({ saved }),
    (error: unknown): StoreAnswer => ({
      message: error instanceof Error ? error.message : String(error),
      code: error instanceof Error && "code" in error ? String(error.code) : null,
    }),
  );
  parentPort?.postMessage(answer);
});
