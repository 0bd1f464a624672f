import type { ImportResult, Outcome, Session, SessionSummary } from "@imprint/contracts";
import { JobError } from "../jobs/job-error.js";
import { writeAtomically } from "../registry/durable.js";
import type { Imported, Importer } from "./importer.js";
import { labelSession } from "./label.js";
import { isSessionId, readSession, type StoredSession, sessionPath } from "./read.js";
import { relationOf } from "./recordings.js";
import { toSummary } from "./summary.js";

const MAX_ID = 128;

export interface SaveOptions {
  readonly folder: string;
  readonly importer: Importer;
  readonly limit: number;
  /** Now, ISO 8601. */
  readonly at: string;
  /** What the caller says of the end: it labels a session that was stored before, too. */
  readonly outcome?: Outcome | undefined;
}

/** Ids for a session in order of preference: its own, then one that its content's hash makes different. */
const candidates = ({ session_id, source: { sha256 } }: Session): readonly string[] => [
  session_id,
  ...[8, 16, 64].map((length) => `${session_id.slice(0, MAX_ID - 1 - length)}-${sha256.slice(0, length)}`),
];

type Found = { readonly state: "absent" } | { readonly state: "damaged" } | ({ readonly state: "stored" } & StoredSession);

const find = async (sessionId: string, { folder, importer, limit }: SaveOptions): Promise<Found> => {
  try {
    return { state: "stored", ...(await readSession({ folder, sessionId, importer, limit })) };
  } catch (error) {
    if (error instanceof JobError && error.code === "SESSION_NOT_FOUND") return { state: "absent" };
    if (error instanceof JobError && error.code === "SESSION_INVALID") return { state: "damaged" };
    throw error;
  }
};

interface Saved {
  readonly summary: SessionSummary;
  readonly isNew: boolean;
  readonly warnings: readonly string[];
  readonly change: IndexChange["change"] | null;
}

/** What the index has to learn of a session: that it is the newest, or what is said of it now where it stands. */
export interface IndexChange {
  readonly summary: SessionSummary;
  readonly change: "newest" | "in place";
}

/** What became of an imported file. */
export interface SavedFile {
  readonly result: ImportResult;
  readonly isNew: boolean;
  readonly changes: readonly IndexChange[];
}

const keep = async (
  stored: StoredSession,
  { outcome, folder }: SaveOptions,
  warnings: readonly string[] = [],
): Promise<Saved> => {
  const { summary, isChanged } = await labelSession({ stored, folder, outcome: outcome ?? stored.session.outcome });
  return { summary, isNew: false, warnings, change: isChanged ? "in place" : null };
};

const store = async (session: Session, { folder, at }: SaveOptions, warnings: readonly string[]): Promise<Saved> => {
  await writeAtomically(sessionPath(folder, session.session_id), `${JSON.stringify(session)}\n`);
  return { summary: await toSummary(session, at), isNew: true, warnings, change: "newest" };
};

const saveOne = async (session: Session, options: SaveOptions): Promise<Saved> => {
  const own = session.session_id;
  for (const sessionId of candidates(session)) {
    const next: Session = { ...session, session_id: sessionId };
    const renamed = sessionId === own ? [] : [`Another session has the id ${own}: this one is stored as ${sessionId}.`];
    const found = await find(sessionId, options);
    if (found.state === "absent") return store(next, options, renamed);
    if (found.state === "damaged")
      return store(next, options, [...renamed, `The stored file of session ${sessionId} was damaged and is replaced.`]);
    const { session: stored } = found;
    if (stored.source.sha256 === next.source.sha256) return keep(found, options);
    const relation = sessionId === own ? relationOf(stored, next) : "other";
    if (relation === "same") return keep(found, options);
    if (relation === "older") return keep(found, options, [`A longer recording of session ${sessionId} is stored: it stays.`]);
    if (relation === "newer") {
      const outcome = next.outcome === "unknown" ? stored.outcome : next.outcome;
      const grown = `Session ${sessionId} was stored with ${stored.steps.length} steps and is replaced: it has ${next.steps.length} now.`;
      return store({ ...next, outcome }, options, [grown]);
    }
  }
  throw new JobError("INTERNAL_ERROR", `No id is free for session ${own}.`);
};

/** Stores every conversation of an imported file, as files: the index is the caller's. The same bytes again change nothing and give the same ids. */
export const saveSessions = async ({ sessions, warnings }: Imported, options: SaveOptions): Promise<SavedFile> => {
  if (!sessions.every(({ session_id }) => isSessionId(session_id)))
    throw new JobError("INTERNAL_ERROR", "The importer made an id that is none.");
  const saved: Saved[] = [];
  for (const session of sessions) saved.push(await saveOne(session, options));
  const [first] = saved;
  if (!first) throw new JobError("SESSION_UNREADABLE", "The file holds no conversation.");
  return {
    result: {
      ...first.summary,
      warnings: [...warnings, ...saved.flatMap((one) => one.warnings)],
      sessions: saved.map(({ summary }) => summary),
    },
    isNew: saved.some(({ isNew }) => isNew),
    changes: saved.flatMap(({ summary, change }) => (change === null ? [] : [{ summary, change }])),
  };
};
