import type { Outcome, SessionFormat } from "@imprint/contracts";
import { importSession } from "./import-session.js";
import { type SavedFile, type SaveOptions, saveSessions } from "./save.js";

/** A file to import and store: plain data, so that another thread can do it. */
export interface StoreRequest extends Omit<SaveOptions, "importer"> {
  readonly bytes: Uint8Array;
  readonly format: SessionFormat | undefined;
  readonly outcome: Outcome | undefined;
}

/** Reads a recorded session and stores what is in it. Rejects with an error of code SESSION_UNREADABLE when it is none. */
export const storeFile = async ({ bytes, format, ...options }: StoreRequest): Promise<SavedFile> =>
  saveSessions(await importSession(bytes, { format, outcome: options.outcome }), { ...options, importer: importSession });
