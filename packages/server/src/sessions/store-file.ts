import { createReadStream } from "node:fs";
import type { SessionFormat } from "@imprint/contracts";
import { type SavedFile, type SaveOptions, sessionSaver } from "./save.js";

/** A file to import and store: plain data, so that another process can do it. */
export interface StoreRequest extends SaveOptions {
  /** The recording's path. */
  readonly file: string;
  readonly format?: SessionFormat | undefined;
}

/**
 * Reads a recorded session and stores what is in it, a conversation at a time, so that a large file is never held as a whole.
 * Rejects with an error of code SESSION_UNREADABLE when it is none; then nothing is stored.
 */
export const storeFile = async ({ file, format, ...options }: StoreRequest): Promise<SavedFile> => {
  // Loaded at the first use, so that the start does not wait.
  const { importSessions } = await import("@imprint/sessions");
  const saver = sessionSaver(options);
  const { warnings } = await importSessions([{ name: "The file", bytes: () => createReadStream(file) }], {
    ...(format && { format }),
    ...(options.outcome && { outcome: options.outcome }),
    onSession: saver.take,
  });
  return saver.finish(warnings);
};
