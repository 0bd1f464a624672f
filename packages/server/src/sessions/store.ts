import { lstat, mkdtemp, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { type Outcome, type SessionFormat, type SessionList, type SessionSummary, withSignals } from "@imprint/contracts";
import type { GatewayRecording } from "@imprint/sessions";
import { ImprintError, type Log, nullIfMissing } from "../common/error.js";
import { createKeyedLock } from "../common/keyed-lock.js";
import { createDiscards, type Discards } from "../storage/discards.js";
import type { DataPaths } from "../storage/paths.js";
import type { Database } from "../storage/schema.js";
import { inTransaction } from "../storage/transaction.js";
import { createFileStore, type FileStore } from "./file-store.js";
import { forgetSession } from "./index-table.js";
import { createPresent, type ListQuery, listSessions } from "./list.js";
import { markOwn } from "./own.js";
import { closeGap, findGap, type Recovered } from "./recover.js";
import { commit, importRecording, rewrite, type SavedFile } from "./save.js";
import { invalid, isSessionId, notFound, sessionPath, statSession } from "./session-file.js";
import { createSessionIndex, knownFile, type StoreDeps } from "./session-index.js";
import { type Staged, type Staging, stageSessions } from "./stage.js";
import type { Answers, ImportBounds } from "./tasks.js";

/**
 * Every session that is stored is read and changed through here, large ones in processes of their own. A session is a file and a row: both
 * change in their order under the session's lock, so the rows have transactions of their own, not those of requests.
 */
export interface SessionStore {
  /** Bytes that a recording may have, and a file that was put there by hand. */
  readonly limit: number;
  /** @throws ImprintError SESSION_NOT_FOUND or SESSION_INVALID */
  summary(sessionId: string): Promise<SessionSummary>;
  list(query: ListQuery): Promise<SessionList>;
  /** The canonical session as JSON. @throws ImprintError SESSION_NOT_FOUND or SESSION_INVALID */
  content(sessionId: string): Promise<Readable>;
  /** @throws ImprintError SESSION_NOT_FOUND for the first that is not there, or SESSION_INVALID for what no file is */
  require(sessionIds: readonly string[]): Promise<void>;
  /** Of which work a session is. @throws ImprintError SESSION_NOT_FOUND or SESSION_INVALID */
  touched(sessionId: string): Promise<Answers["touched"]>;
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
    how: {
      readonly format?: SessionFormat | undefined;
      readonly outcome?: Outcome | undefined;
      /** Where it was recorded, if it does not say so itself. */
      readonly folder?: string | undefined;
      /** Ends the import; what it has read so far is removed. */
      readonly signal?: AbortSignal;
    },
  ): Promise<SavedFile>;
  /**
   * Stores a conversation of the service's own, or what it has grown to. Its secrets are replaced before anything is on the disk, and
   * the end of the store waits for it.
   */
  record(recording: GatewayRecording): Promise<void>;
  /** Looks for what a crash left between files and index, before anyone asks; what it answers puts that right, in the background. */
  recover(): Promise<() => Promise<Recovered>>;
  /** Ends imports that still read, and waits for those that already store. */
  close(): Promise<void>;
}

export interface StoreOptions {
  readonly database: Database;
  readonly paths: Pick<DataPaths, "root" | "sessions" | "incoming">;
  /** Removes what imports leave; shared with the clean-up at the start. */
  readonly discards?: Discards;
  readonly limit: number;
  /** Where not given, the importers' own. */
  readonly importBounds?: ImportBounds;
  /** Names of base models whose words are the service's own. */
  readonly baseModels?: readonly string[];
  readonly log: Log;
  readonly now: () => Date;
}

/** Imports that are read at once. Each may take the memory of a process. */
const IMPORTS = 4;

/** Stored sessions are read in one process and recordings in others: an import takes minutes, and a preview does not wait so long. */
const createFiles = (): FileStore => {
  const [imports, reads] = [createFileStore({ processes: IMPORTS }), createFileStore()];
  return {
    run: (name, task, patience) => (name === "import" ? imports : reads).run(name, task, patience),
    close: () => {
      imports.close();
      reads.close();
    },
  };
};

/** What was said is not said again: it is stored, whatever ends meanwhile. */
const NEVER = new AbortController().signal;

export const createSessionStore = ({
  database,
  paths,
  discards = createDiscards({ root: paths.root, onError: (err) => log.error({ err }, "a folder could not be removed") }),
  limit,
  importBounds: bounds = {},
  baseModels = [],
  log,
  now,
}: StoreOptions): SessionStore => {
  const { sessions: folder, incoming } = paths;
  const lock = createKeyedLock();
  const files = createFiles();
  const arriving = new Set<string>();
  const leftovers = new Set<string>();
  const closing = new AbortController();
  const pending = new Set<Promise<unknown>>();
  const deps: StoreDeps = { database, folder, incoming, limit, bounds, files, lock, arriving, leftovers, log, now };
  const index = createSessionIndex(deps);
  const parts = { deps, index, present: createPresent(deps) };

  const marked = (sessions: readonly SessionSummary[]) => markOwn(sessions, { database, baseModels });
  const markedOne = async (session: SessionSummary): Promise<SessionSummary> => (await marked([session]))[0] ?? session;

  /** Work that the end of the store waits for. */
  const awaited = <Result>(work: Promise<Result>): Promise<Result> => {
    const settled = work.catch(() => undefined).finally(() => pending.delete(settled));
    pending.add(settled);
    return work;
  };

  /** Lends a folder of its own, which is discarded with all that is left in it. A crash leaves it to the next start. */
  const withStaging = <Result>(use: (staging: string) => Promise<Result>): Promise<Result> => {
    const work = async (): Promise<Result> => {
      const staging = await mkdtemp(join(incoming, "import-"));
      try {
        return await use(staging);
      } finally {
        await discards.discard(staging);
      }
    };
    return awaited(work());
  };

  return {
    limit,
    summary: async (sessionId) => markedOne((await index.find(sessionId)).summary),
    list: async (query) => {
      const { sessions, next } = await listSessions(query, parts);
      return { sessions: [...(await marked(sessions))], next };
    },
    content: (sessionId) =>
      withStaging(async (staging) => {
        const copies = { sessionIds: [sessionId], folder: join(staging, "content"), skipInvalid: false };
        const [path] = (await stageSessions(copies, parts)).session_paths;
        // Read to its end after its name is gone.
        return (await open(path)).createReadStream();
      }),
    require: async (sessionIds) => {
      for (const sessionId of sessionIds) await statSession(knownFile(folder, sessionId));
    },
    touched: (sessionId) => files.run("touched", { session: knownFile(folder, sessionId) }),
    stage: (staging) => stageSessions(staging, parts),
    label: (sessionId, outcome) =>
      lock([sessionId], async () => {
        const known = await index.findLocked(sessionId);
        if (known.summary.outcome === outcome) return markedOne(known.summary);
        return withStaging(async (staging) => {
          const change = await rewrite(known, { outcome, staging }, deps);
          await commit([change], deps);
          return markedOne(change.summary);
        });
      }),
    delete: (sessionId) =>
      lock([sessionId], async () => {
        const path = sessionPath(folder, sessionId);
        if (!isSessionId(sessionId)) throw notFound(sessionId);
        const found = await lstat(path).catch(nullIfMissing);
        if (found === null) throw notFound(sessionId);
        if (found.isDirectory()) throw invalid(sessionId, "it is a folder");
        // The row first: where it cannot be written the session stays, and what a crash leaves is a file that is listed again.
        await inTransaction(database, (db) => forgetSession(db, sessionId));
        await unlink(path);
      }),
    import: (receive, { signal: given, ...how }) =>
      withSignals([given, closing.signal], (signal) =>
        withStaging(async (staging) => {
          const { result, isNew } = await importRecording(
            { source: { file: await receive(staging) }, staging, signal, ...how },
            parts,
          );
          const sessions = await marked(result.sessions);
          return { result: { ...result, ...sessions[0], sessions: [...sessions] }, isNew };
        }),
      ),
    record: (recording) =>
      withStaging(async (staging) => {
        const source = { text: JSON.stringify(recording) };
        await importRecording({ source, format: "gateway", staging, signal: NEVER }, parts);
      }),
    recover: async () => {
      const gap = await findGap(deps);
      for (const id of gap.withoutRow) leftovers.add(id);
      return () => awaited(closeGap(gap, { ...parts, signal: closing.signal }));
    },
    close: async () => {
      closing.abort(new ImprintError("SHUTTING_DOWN", "The service is shutting down."));
      await Promise.all(pending);
      files.close();
    },
  };
};
