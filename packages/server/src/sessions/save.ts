import type { ImportResult, Outcome, Session, SessionSummary } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import { stageLabel } from "./label.js";
import { isSessionId, readSession, type StoredSession } from "./read.js";
import { relationOf } from "./recordings.js";
import { toSummary } from "./summary.js";
import { moveStaged, stageSession } from "./write.js";

const MAX_ID = 128;

export interface SaveOptions {
  readonly folder: string;
  /** An empty folder beside it, for sessions that are stored once their file is imported as a whole. */
  readonly staging: string;
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

const find = async (sessionId: string, { folder, limit }: SaveOptions): Promise<Found> => {
  try {
    return { state: "stored", ...(await readSession({ folder, sessionId, limit })) };
  } catch (error) {
    if (error instanceof ImprintError && error.code === "SESSION_NOT_FOUND") return { state: "absent" };
    if (error instanceof ImprintError && error.code === "SESSION_INVALID") return { state: "damaged" };
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
  { outcome = stored.session.outcome, staging }: SaveOptions,
  warnings: readonly string[] = [],
): Promise<Saved> => {
  const { summary, isChanged } = await stageLabel(stored, { outcome, staging });
  return { summary, isNew: false, warnings, change: isChanged ? "in place" : null };
};

const store = async (session: Session, { staging, at }: SaveOptions, warnings: readonly string[]): Promise<Saved> => {
  await stageSession({ session, storedAt: at }, staging);
  return { summary: await toSummary(session, at), isNew: true, warnings, change: "newest" };
};

const save = async (session: Session, options: SaveOptions): Promise<Saved> => {
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
  throw new ImprintError("INTERNAL_ERROR", `No id is free for session ${own}.`);
};

/** Takes the conversations of one file as they are imported. */
export interface SessionSaver {
  take(session: Session): Promise<void>;
  /** Stores what was taken, as files: the index is the caller's. The same bytes again change nothing and give the same ids. */
  finish(warnings: readonly string[]): Promise<SavedFile>;
}

/** Nothing is stored, and nothing stored is changed, before all of a file was imported. */
export const sessionSaver = (options: SaveOptions): SessionSaver => {
  const saved: Saved[] = [];
  return {
    take: async (session) => {
      if (!isSessionId(session.session_id)) throw new ImprintError("INTERNAL_ERROR", "The importer made an id that is none.");
      saved.push(await save(session, options));
    },
    finish: async (warnings) => {
      const [first] = saved;
      if (!first) throw new ImprintError("SESSION_UNREADABLE", "The file holds no conversation.");
      const changes = saved.flatMap(({ summary, change }) => (change === null ? [] : [{ summary, change }]));
      await moveStaged(
        changes.map(({ summary }) => summary.session_id),
        options,
      );
      return {
        result: {
          ...first.summary,
          warnings: [...warnings, ...saved.flatMap((one) => one.warnings)],
          sessions: saved.map(({ summary }) => summary),
        },
        isNew: saved.some(({ isNew }) => isNew),
        changes,
      };
    },
  };
};
