import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { ImportResult, Outcome, SessionFormat, SessionSummary } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import { putInPlace, syncPath } from "../storage/durable.js";
import { inTransaction } from "../storage/transaction.js";
import { type Indexed, indexSessions, markChanging } from "./index-table.js";
import { fingerprintOf, sessionPath } from "./session-file.js";
import { knownFile, type SessionIndex, type StoreDeps } from "./session-index.js";
import { readSummaries, type SessionFacts, type Tasks } from "./tasks.js";

const MAX_ID = 128;

/** Sessions looked at in one turn of the event loop. */
const TURN = 1000;

/** Ids for a session in order of preference: its own, then one that its content's hash makes different. */
const candidates = ({ session_id, sha256 }: SessionSummary): readonly string[] => [
  session_id,
  ...[8, 16, 64].map((length) => `${session_id.slice(0, MAX_ID - 1 - length)}-${sha256.slice(0, length)}`),
];

/** A file that waits to become a session's, and what the index says of it then: as the newest, or where the session stands. */
export interface Change {
  /** Whether a session stands in its place. */
  readonly replaces: boolean;
  readonly path: string;
  readonly summary: SessionSummary;
  readonly byHand: boolean;
  readonly newest: boolean;
}

/** Seconds that the reading of a recording may take. */
export const IMPORT_SECONDS = 600;

/** Rows of one transaction, which holds up the event loop, and everybody else who asks the registry, for some milliseconds. */
const ROWS = 64;

/**
 * Puts files in the place of sessions: each of them the old one or the new one for a reader, never a part. The rows come last, and
 * those of sessions that are replaced are marked before, so that a crash leaves files that the next start indexes. The caller holds
 * the sessions' locks.
 */
export const commit = async (changes: readonly Change[], { folder, database, arriving }: StoreDeps): Promise<void> => {
  if (changes.length === 0) return;
  for (const { summary } of changes) arriving.add(summary.session_id);
  const replaced = changes.flatMap(({ replaces, summary }) => (replaces ? [summary.session_id] : []));
  const undo: (() => Promise<void>)[] = [];
  try {
    for (let from = 0; from < replaced.length; from += ROWS)
      await inTransaction(database, (db) => markChanging(db, replaced.slice(from, from + ROWS)));
    for (const { path, summary } of changes) undo.push(await putInPlace(path, sessionPath(folder, summary.session_id)));
    await syncPath(folder, { folder: true });
    for (let from = 0; from < changes.length; from += ROWS) {
      const rows: (Indexed & Change)[] = [];
      for (const change of changes.slice(from, from + ROWS))
        rows.push({ ...change, fingerprint: fingerprintOf(await lstat(sessionPath(folder, change.summary.session_id))) });
      await inTransaction(database, (db) => indexSessions(db, rows));
    }
  } catch (error) {
    // What is refused changes nothing: a row that was written all the same is read again when its file is looked at.
    for (const step of undo) await step();
    throw error;
  } finally {
    for (const { summary } of changes) arriving.delete(summary.session_id);
  }
};

/** A file of a stored session with another outcome, or with what its recording says of where it was made, and all else as it is. */
export const rewrite = async (
  { summary: { session_id: sessionId }, byHand }: Indexed,
  { staging, ...changed }: { readonly outcome?: Outcome; readonly facts?: SessionFacts; readonly staging: string },
  { folder, files }: StoreDeps,
): Promise<Change> => {
  const path = join(staging, `rewritten-${sessionId}.json`);
  const { summary } = await files.run("read", { session: knownFile(folder, sessionId), write: { path, ...changed } });
  return { path, summary, byHand, newest: false, replaces: true };
};

interface Saved {
  readonly summary: SessionSummary;
  readonly isNew: boolean;
  readonly warnings: readonly string[];
  readonly change: Change | null;
}

/** What became of an imported file. */
export interface SavedFile {
  readonly result: ImportResult;
  readonly isNew: boolean;
}

interface Import {
  readonly staging: string;
  /** What the caller says of the end: it labels a session that was stored before, too. */
  readonly outcome?: Outcome | undefined;
  readonly folder?: string | undefined;
  /** Ends the import, until it changes the first stored session. */
  readonly signal: AbortSignal;
}

const FACTS = ["folder", "repository", "branch", "provider"] as const;

/** What a recording says of where it was made and the stored session does not: an earlier version did not read it. */
const factsBeyond = (stored: SessionSummary, imported: SessionSummary): SessionFacts =>
  Object.fromEntries(
    FACTS.flatMap((name) => (stored[name] === undefined && imported[name] !== undefined ? [[name, imported[name]]] : [])),
  );

const keep = async (
  stored: Indexed,
  imported: SessionSummary,
  { outcome = stored.summary.outcome, staging }: Pick<Import, "outcome" | "staging">,
  deps: StoreDeps,
  warnings: readonly string[] = [],
): Promise<Saved> => {
  const facts = factsBeyond(stored.summary, imported);
  const isKnown = outcome === stored.summary.outcome && Object.keys(facts).length === 0;
  const change = isKnown ? null : await rewrite(stored, { outcome, facts, staging }, deps);
  return { summary: (change ?? stored).summary, isNew: false, warnings, change };
};

/** Stores an imported conversation under an id that is free, or whose session it is or goes on with. The caller holds the locks of all candidates. */
const settle = async (
  imported: SessionSummary,
  how: Import,
  { deps, index }: { readonly deps: StoreDeps; readonly index: SessionIndex },
): Promise<Saved> => {
  const { folder, files } = deps;
  const own = imported.session_id;
  const next = knownFile(how.staging, own);

  const place = async (sessionId: string, outcome: Outcome, warnings: readonly string[], replaces = true): Promise<Saved> => {
    const renamed = sessionId === own ? [] : [`Another session has the id ${own}: this one is stored as ${sessionId}.`];
    const staged = sessionPath(how.staging, own);
    const done = { isNew: true, warnings: [...renamed, ...warnings] };
    if (sessionId === own && outcome === imported.outcome)
      return { ...done, summary: imported, change: { path: staged, summary: imported, byHand: false, newest: true, replaces } };
    const path = join(how.staging, `placed-${sessionId}.json`);
    const { summary } = await files.run("read", { session: next, write: { path, sessionId, outcome } });
    return { ...done, summary, change: { path, summary, byHand: false, newest: true, replaces } };
  };

  for (const sessionId of candidates(imported)) {
    let stored: Indexed;
    try {
      stored = await index.findLocked(sessionId);
    } catch (error) {
      if (!(error instanceof ImprintError)) throw error;
      if (error.code === "SESSION_NOT_FOUND") return place(sessionId, imported.outcome, [], false);
      if (error.code !== "SESSION_INVALID" || (await lstat(sessionPath(folder, sessionId))).isDirectory()) throw error;
      return place(sessionId, imported.outcome, [`The stored file of session ${sessionId} was damaged and is replaced.`]);
    }
    if (stored.summary.sha256 === imported.sha256) return keep(stored, imported, how, deps);
    if (sessionId !== own) continue;
    const { relation, steps } = await files.run("compare", { stored: knownFile(folder, sessionId), next });
    if (relation === "same") return keep(stored, imported, how, deps);
    if (relation === "older")
      return keep(stored, imported, how, deps, [`A longer recording of session ${sessionId} is stored: it stays.`]);
    if (relation === "newer")
      return place(sessionId, imported.outcome === "unknown" ? stored.summary.outcome : imported.outcome, [
        `Session ${sessionId} was stored with ${steps.stored} steps and is replaced: it has ${steps.next} now.`,
      ]);
  }
  throw new ImprintError("INTERNAL_ERROR", `No id is free for session ${own}.`);
};

/**
 * Imports a recording. Nothing is stored, and nothing stored is changed, before all of it was read; the same bytes again change
 * nothing and give the same ids.
 */
export const importRecording = async (
  {
    source,
    format,
    ...how
  }: Import & { readonly source: Tasks["import"]["source"]; readonly format?: SessionFormat | undefined },
  { deps, index }: { readonly deps: StoreDeps; readonly index: SessionIndex },
): Promise<SavedFile> => {
  const at = deps.now().toISOString();
  const { outcome, folder, staging, signal } = how;
  const { bounds, files } = deps;
  const { warnings } = await files.run(
    "import",
    { source, format, outcome, folder, staging, bounds, at },
    { signal, seconds: IMPORT_SECONDS },
  );
  const sessions = await readSummaries(staging);
  const ids: string[] = [];
  for (const [number, session] of sessions.entries()) {
    if (number % TURN === TURN - 1) await turn();
    ids.push(...candidates(session));
  }
  return deps.lock(ids, async () => {
    const saved: Saved[] = [];
    for (const session of sessions) {
      signal.throwIfAborted();
      saved.push(await settle(session, how, { deps, index }));
    }
    const [first] = saved;
    if (!first) throw new ImprintError("SESSION_UNREADABLE", "The file holds no conversation.");
    await commit(
      saved.flatMap(({ change }) => change ?? []),
      deps,
    );
    return {
      result: {
        ...first.summary,
        warnings: [...warnings, ...saved.flatMap((one) => one.warnings)],
        sessions: saved.map(({ summary }) => summary),
      },
      isNew: saved.some(({ isNew }) => isNew),
    };
  });
};
