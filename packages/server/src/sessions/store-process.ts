import type { StoreAnswer } from "./file-store.js";
import { type StoreRequest, storeFile } from "./store-file.js";

/** The process that large files are imported in: a program of its own, which answers each request before the next. */
process.on("message", async (request: StoreRequest) => {
  const answer = await storeFile(request).then(
    (saved): StoreAnswer => ({ saved }),
    (error: unknown): StoreAnswer => ({
      message: error instanceof Error ? error.message : String(error),
      code: error instanceof Error && "code" in error ? String(error.code) : null,
    }),
  );
  process.send?.(answer);
});
// A terminal's Ctrl-C reaches this process too, and the service, which decides, lets requests end. Without it there is nobody to answer.
process.on("SIGINT", () => {});
process.on("disconnect", () => process.exit());
