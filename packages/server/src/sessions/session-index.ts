import { asImprintError, ImprintError, type Log } from "../common/error.js";
import type { KeyedLock } from "../common/keyed-lock.js";
import type { Database } from "../storage/schema.js";
import { inTransaction } from "../storage/transaction.js";
import type { FileStore } from "./file-store.js";
import { findIndexed, type Indexed, indexSessions } from "./index-table.js";
import { fingerprintOf, type SessionFile, statSession } from "./session-file.js";
import type { ImportBounds } from "./tasks.js";

/** What the parts of the session store work with. */
export interface StoreDeps {
  readonly database: Database;
  /** Where the sessions lie, and where they are made ready. */
  readonly folder: string;
  readonly incoming: string;
  /** Bytes of a recording, and of a session's file that Imprint did not write. */
  readonly limit: number;
  readonly bounds: ImportBounds;
  readonly files: FileStore;
  /** By session ids: for whoever changes a session, or has to see no change of it. */
  readonly lock: KeyedLock;
  /** Ids whose files are being put there: their rows follow. */
  readonly arriving: Set<string>;
  /** Ids of files that lay there without a row when the service started: a session that Imprint wrote was imported. */
  readonly leftovers: Set<string>;
  readonly log: Log;
  readonly now: () => Date;
}

/** What is known of stored sessions: from the index where the file did not change, and read once where it did. */
export interface SessionIndex {
  /** @throws ImprintError SESSION_NOT_FOUND or SESSION_INVALID */
  find(sessionId: string): Promise<Indexed>;
  /** As `find`, for who holds the session's lock. */
  findLocked(sessionId: string): Promise<Indexed>;
}

/** The file of a session that is known: its size was looked at before it was. */
export const knownFile = (folder: string, sessionId: string): SessionFile => ({
  folder,
  sessionId,
  limit: Number.MAX_SAFE_INTEGER,
});

export const createSessionIndex = ({ database, folder, limit, files, lock, leftovers, log }: StoreDeps): SessionIndex => {
  /** What cannot be read, which is not tried again until it changes. */
  const refused = new Map<string, { readonly fingerprint: string; readonly error: ImprintError }>();
  const named = new Map<string, string>();

  /** Says once in the log why a file is no session. */
  const name = (sessionId: string, error: unknown): void => {
    if (!(error instanceof ImprintError) || error.code !== "SESSION_INVALID" || named.get(sessionId) === error.message) return;
    named.set(sessionId, error.message);
    log.warn({ session_id: sessionId }, error.message);
  };

  const look = async (sessionId: string) => {
    const stats = await statSession(knownFile(folder, sessionId));
    const fingerprint = fingerprintOf(stats);
    const row = await inTransaction(database, async (db) => (await findIndexed(db, [sessionId])).get(sessionId));
    const isCurrent = row?.fingerprint === fingerprint && !(row.byHand && stats.size > limit);
    return { row, fingerprint, current: isCurrent ? row : null };
  };

  const read = async (sessionId: string, row: Indexed | undefined): Promise<Indexed> => {
    const session = { folder, sessionId, limit };
    // Before a process is asked.
    await statSession(session);
    const { summary, fingerprint, canonical } = await files.run("read", { session });
    const wasImported = row === undefined ? leftovers.has(sessionId) : !row.byHand;
    const known = { summary, fingerprint, byHand: !(wasImported && canonical) };
    await inTransaction(database, (db) => indexSessions(db, [known])).catch((error: unknown) => {
      // What is read is told all the same: the next reader tries to note it again.
      if (asImprintError(error).code !== "DISK_FULL") throw error;
    });
    return known;
  };

  const findLocked = async (sessionId: string): Promise<Indexed> => {
    const { row, fingerprint, current } = await look(sessionId);
    if (current) return current;
    const earlier = refused.get(sessionId);
    if (earlier?.fingerprint === fingerprint) throw earlier.error;
    try {
      return await read(sessionId, row);
    } catch (error) {
      if (error instanceof ImprintError && error.code === "SESSION_INVALID") refused.set(sessionId, { fingerprint, error });
      throw error;
    }
  };

  const naming = async (sessionId: string, finding: Promise<Indexed>): Promise<Indexed> => {
    try {
      return await finding;
    } catch (error) {
      name(sessionId, error);
      throw error;
    }
  };

  return {
    find: (sessionId) =>
      naming(
        sessionId,
        look(sessionId).then(({ current }) => current ?? lock([sessionId], () => findLocked(sessionId))),
      ),
    findLocked,
  };
};
