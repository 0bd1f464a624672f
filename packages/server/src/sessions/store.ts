import { lstat, mkdtemp, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Outcome, SessionFormat, SessionList, SessionSummary } from "@imprint/contracts";
import { createKeyedLock } from "../common/keyed-lock.js";
import type { Log } from "../common/log.js";
import type { DataPaths } from "../storage/paths.js";
import type { Database } from "../storage/schema.js";
import { inTransaction } from "../storage/transaction.js";
import { createCatalogue, knownFile, type Shelf } from "./catalogue.js";
import { createFileStore, type FileStore } from "./file-store.js";
import { forgetSession } from "./index-table.js";
import { createPresent, type ListQuery, listSessions } from "./list.js";
import { commit, importRecording, relabel, type SavedFile } from "./save.js";
import { invalid, isSessionId, notFound, sessionPath, statSession } from "./session-file.js";
import { type Staged, type Staging, stageSessions } from "./stage.js";

/** Every session that is stored is read and changed through here. Large ones are read in processes of their own. */
export interface SessionStore {
  /** Bytes that a recording may have, and a file that was put there by hand. */
  readonly limit: number;
  /** @throws ImprintError SESSION_NOT_FOUND or SESSION_INVALID */
  summary(sessionId: string): Promise<SessionSummary>;
  list(query: ListQuery): Promise<SessionList>;
  /** @throws ImprintError SESSION_NOT_FOUND for the first that is not there, or SESSION_INVALID for what no file is */
  require(sessionIds: readonly string[]): Promise<void>;
  /** Copies sessions for a job or a preview. */
  stage(staging: Staging): Promise<Staged>;
  /** Says how a session ended. What its source said (`outcome_signal`) stays. */
  label(sessionId: string, outcome: Outcome): Promise<SessionSummary>;
  delete(sessionId: string): Promise<void>;
  /**
   * Imports a recording: `receive` answers where it lies, and may write it into the folder it is lent.
   * @throws what `receive` throws, or an error of code SESSION_UNREADABLE; nothing is stored then
   */
  import(
    receive: (folder: string) => Promise<string>,
    how: { readonly format?: SessionFormat | undefined; readonly outcome?: Outcome | undefined },
  ): Promise<SavedFile>;
  close(): Promise<void>;
}

export interface StoreOptions {
  readonly database: Database;
  readonly paths: Pick<DataPaths, "sessions" | "incoming">;
  readonly limit: number;
  readonly log: Log;
  readonly now: () => Date;
}

/** Stored sessions are read in one process and recordings in another: an import takes minutes, and a preview does not wait so long. */
const createFiles = (): FileStore => {
  const [imports, reads] = [createFileStore(), createFileStore()];
  return {
    run: (name, task, onSession) => (name === "import" ? imports : reads).run(name, task, onSession),
    close: async () => void (await Promise.all([imports.close(), reads.close()])),
  };
};

export const createSessionStore = ({ database, paths, limit, log, now }: StoreOptions): SessionStore => {
  const { sessions: folder, incoming } = paths;
  const lock = createKeyedLock();
  const files = createFiles();
  const shelf: Shelf = { database, folder, incoming, limit, files, lock, log, now };
  const catalogue = createCatalogue(shelf);
  const parts = { shelf, catalogue, present: createPresent(shelf) };

  /** Lends a folder of its own, which is removed with all that is left in it. A crash leaves it to the sweep. */
  const withStaging = async <Result>(use: (staging: string) => Promise<Result>): Promise<Result> => {
    const staging = await mkdtemp(join(incoming, "import-"));
    try {
      return await use(staging);
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  };

  return {
    limit,
    summary: async (sessionId) => (await catalogue.find(sessionId)).summary,
    list: (query) => listSessions(query, parts),
    require: async (sessionIds) => {
      for (const sessionId of sessionIds) await statSession(knownFile(folder, sessionId));
    },
    stage: (staging) => stageSessions(staging, parts),
    label: (sessionId, outcome) =>
      lock([sessionId], async () => {
        const known = await catalogue.findLocked(sessionId);
        if (known.summary.outcome === outcome) return known.summary;
        return withStaging(async (staging) => {
          const change = await relabel(known, { outcome, staging }, shelf);
          await commit([change], shelf);
          return change.summary;
        });
      }),
    delete: (sessionId) =>
      lock([sessionId], async () => {
        const path = sessionPath(folder, sessionId);
        if (!isSessionId(sessionId)) throw notFound(sessionId);
        const found = await lstat(path).catch(() => null);
        if (found === null) throw notFound(sessionId);
        if (found.isDirectory()) throw invalid(sessionId, "it is a folder");
        // The row first: where it cannot be written the session stays, and what a crash leaves is a file that is listed again.
        await inTransaction(database, (db) => forgetSession(db, sessionId));
        await unlink(path);
      }),
    import: (receive, how) =>
      withStaging(async (staging) => importRecording({ file: await receive(staging), staging, ...how }, parts)),
    close: () => files.close(),
  };
};
