import type { ImportResult, Outcome, Session, SessionSummary } from "@imprint/contracts";
import { JobError } from "../jobs/job-error.js";
import { writeAtomically } from "../registry/durable.js";
import type { Session as DatabaseSession } from "../registry/schema.js";
import type { Imported, Importer } from "./importer.js";
import { indexSession } from "./index-table.js";
import { labelSession } from "./label.js";
import { isSessionId, readSession, sessionPath } from "./read.js";
import { toSummary } from "./summary.js";

const MAX_ID = 128;

interface SaveOptions {
  readonly db: DatabaseSession;
  readonly folder: string;
  readonly importer: Importer;
  readonly limit: number;
  readonly now: () => Date;
  /** What the caller says of the end: it labels a session that was stored before, too. */
  readonly outcome?: Outcome | undefined;
}

/** Ids for a session in order of preference: its own, then one that its content's hash makes different. */
const candidates = ({ session_id, source: { sha256 } }: Session): readonly string[] => [
  session_id,
  ...[8, 16, 64].map((length) => `${session_id.slice(0, MAX_ID - 1 - length)}-${sha256.slice(0, length)}`),
];

type Found =
  | { readonly state: "absent" | "damaged" }
  | { readonly state: "stored"; readonly sha256: string; readonly summary: SessionSummary };

const find = async (sessionId: string, { folder, importer, limit }: SaveOptions): Promise<Found> => {
  try {
    const { session, storedAt } = await readSession({ folder, sessionId, importer, limit });
    return { state: "stored", sha256: session.source.sha256, summary: await toSummary(session, storedAt) };
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
}

const saveOne = async (session: Session, options: SaveOptions): Promise<Saved> => {
  for (const sessionId of candidates(session)) {
    const found = await find(sessionId, options);
    if (found.state === "stored" && found.sha256 !== session.source.sha256) continue;
    if (found.state === "stored") {
      const { outcome, now: _now, ...stored } = options;
      const summary = outcome === undefined ? found.summary : await labelSession({ ...stored, sessionId, outcome });
      return { summary, isNew: false, warnings: [] };
    }
    const stored: Session = { ...session, session_id: sessionId };
    await writeAtomically(sessionPath(options.folder, sessionId), `${JSON.stringify(stored)}\n`);
    const summary = await toSummary(stored, options.now().toISOString());
    await indexSession(options.db, summary);
    const renamed = `Another session has the id ${session.session_id}: this one is stored as ${sessionId}.`;
    const repaired = `The stored file of session ${sessionId} was damaged and is replaced.`;
    return {
      summary,
      isNew: true,
      warnings: [...(sessionId === session.session_id ? [] : [renamed]), ...(found.state === "damaged" ? [repaired] : [])],
    };
  }
  throw new JobError("INTERNAL_ERROR", `No id is free for session ${session.session_id}.`);
};

/** Stores every conversation of an imported file. The same bytes again change nothing and give the same ids. */
export const saveSessions = async (
  { sessions, warnings }: Imported,
  options: SaveOptions,
): Promise<{ readonly result: ImportResult; readonly isNew: boolean }> => {
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
  };
};
