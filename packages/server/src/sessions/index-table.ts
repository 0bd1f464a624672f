import type { Outcome, SessionFormat, SessionSummary } from "@imprint/contracts";
import { type SqlBool, sql } from "kysely";
import { afterPrefix, type Transaction } from "../storage/schema.js";
import { searchedText } from "./summary.js";

/** Where an imported session stands among the others, also once it is deleted. */
export interface Place {
  readonly recordedAt: string;
  readonly seq: number;
}

/** What the index knows of a session. */
export interface Indexed {
  readonly summary: SessionSummary;
  /** Which bytes `summary` is of. */
  readonly fingerprint: string | null;
  readonly byHand: boolean;
}

/** Records what is known of some sessions, each in its place among the others or as the newest. */
export const indexSessions = async (
  db: Transaction,
  sessions: readonly (Indexed & { readonly newest?: boolean })[],
): Promise<void> => {
  const newest = sessions.flatMap((session) => (session.newest ? [session.summary.session_id] : []));
  if (newest.length > 0) await db.deleteFrom("sessions").where("session_id", "in", newest).execute();
  const rows = sessions.map(({ summary, fingerprint, byHand }) => ({
    session_id: summary.session_id,
    summary: JSON.stringify(summary),
    words: searchedText(summary),
    fingerprint,
    by_hand: Number(byHand),
    stored_at: summary.created_at,
  }));
  await db
    .insertInto("sessions")
    .values(rows)
    .onConflict((conflict) =>
      conflict
        .column("session_id")
        .doUpdateSet(({ ref }) => ({
          summary: ref("excluded.summary"),
          words: ref("excluded.words"),
          fingerprint: ref("excluded.fingerprint"),
          by_hand: ref("excluded.by_hand"),
        })),
    )
    .execute();
};

/** No file's: the row's own is about to change. (Rows that an earlier version indexed have none.) */
const CHANGING = "";

/** Says of rows that their files are about to change: until each is recorded again, no bytes are known to be those of its summary. */
export const markChanging = async (db: Transaction, ids: readonly string[]): Promise<void> => {
  await db.updateTable("sessions").set({ fingerprint: CHANGING }).where("session_id", "in", ids).execute();
};

/** Forgets rows that were marked when their service was killed: their files tell what they are. */
export const forgetMarked = async (db: Transaction): Promise<void> => {
  await db.deleteFrom("sessions").where("fingerprint", "=", CHANGING).execute();
};

export const forgetSession = async (db: Transaction, sessionId: string): Promise<void> => {
  await db.deleteFrom("sessions").where("session_id", "=", sessionId).execute();
};

/** Ids of all rows. */
export const indexedIds = async (db: Transaction): Promise<ReadonlySet<string>> => {
  const rows = await db.selectFrom("sessions").select("session_id").execute();
  return new Set(rows.map(({ session_id }) => session_id));
};

/** Ids of sessions that are as an earlier version indexed them, which did not ask all of their files. */
export const idsIndexedBefore = async (db: Transaction): Promise<readonly string[]> =>
  (await db.selectFrom("sessions").select("session_id").where("fingerprint", "is", null).execute()).map(
    ({ session_id }) => session_id,
  );

/** Which sessions are listed: those that all of it holds for. */
export interface Filter {
  /** What the id begins with. */
  readonly prefix?: string | undefined;
  /** A folder that they were recorded in or below. */
  readonly folder?: string | undefined;
  readonly repository?: string | undefined;
  readonly branch?: string | undefined;
  readonly model?: string | undefined;
  readonly format?: SessionFormat | undefined;
  /** What a person or the file says, else what the session shows. */
  readonly outcome?: Outcome | undefined;
  /** Days of UTC, on or after which and until whose end it was recorded. */
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Whether an adapter that is listed was trained on it. */
  readonly trained?: boolean | undefined;
}

/** What of a row must be the same. */
const FACTS = {
  repository: sql`repository`,
  branch: sql`branch`,
  model: sql`model`,
  format: sql`summary ->> 'format'`,
  outcome: sql`coalesce(nullif(summary ->> 'outcome', 'unknown'), summary ->> '$.judged.outcome', 'unknown')`,
};
const TRAINED = sql<string>`(select value from adapters, json_each(session_ids) where archived_at is null)`;

interface Asked extends Filter {
  readonly byHand?: boolean;
  readonly words?: readonly string[];
  readonly after?: Place | undefined;
}

/**
 * Ids of sessions behind a place that pass the filter and have all of the words, newest first. One text for all: ten thousand row
 * objects would take longer than the list itself.
 */
export const idsOf = async (
  db: Transaction,
  { words = [], after, byHand, prefix, folder, since, until, trained, ...facts }: Asked = {},
): Promise<readonly string[]> => {
  let query = db.selectFrom("sessions").select("session_id");
  if (byHand !== undefined) query = query.where("by_hand", "=", Number(byHand));
  if (prefix !== undefined) query = query.where("session_id", ">=", prefix).where("session_id", "<", afterPrefix(prefix));
  if (folder !== undefined) {
    const at = folder.replace(/[/\\]+$/, "");
    const below = `${at}${folder.includes("\\") && !folder.includes("/") ? "\\" : "/"}`;
    query = query.where(({ or, and, eb }) =>
      or([eb("folder", "=", at), and([eb("folder", ">=", below), eb("folder", "<", afterPrefix(below))])]),
    );
  }
  for (const name of Object.keys(FACTS) as (keyof typeof FACTS)[])
    if (facts[name] !== undefined) query = query.where(FACTS[name], "=", facts[name]);
  if (since !== undefined) query = query.where("recorded_at", ">=", since);
  // Whatever is recorded that day stands before it.
  if (until !== undefined) query = query.where("recorded_at", "<", afterPrefix(until));
  if (trained !== undefined) query = query.where("session_id", trained ? "in" : "not in", TRAINED);
  if (after !== undefined)
    query = query.where(({ eb, refTuple, tuple }) => eb(refTuple("recorded_at", "seq"), "<", tuple(after.recordedAt, after.seq)));
  const newestFirst = query
    .where(({ and }) => and(words.map((word) => sql<SqlBool>`instr(words, ${word}) > 0`)))
    .orderBy("recorded_at", "desc")
    .orderBy("seq", "desc");
  const { ids } = await db
    .selectFrom(newestFirst.as("newest_first"))
    .select(sql<string | null>`string_agg(session_id, '/')`.as("ids"))
    .executeTakeFirstOrThrow();
  return ids === null ? [] : ids.split("/");
};

/** What the index knows of some sessions, by their ids. */
export const findIndexed = async (
  db: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Indexed & { readonly place: Place }>> => {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("sessions")
    .select(["session_id", "summary", "fingerprint", "by_hand", "recorded_at", "seq"])
    .where("session_id", "in", ids)
    .execute();
  return new Map(
    rows.map(({ session_id, summary, fingerprint, by_hand, recorded_at, seq }) => [
      session_id,
      {
        summary: JSON.parse(summary) as SessionSummary,
        fingerprint,
        byHand: by_hand === 1,
        place: { recordedAt: recorded_at, seq },
      },
    ]),
  );
};
