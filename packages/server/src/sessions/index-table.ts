import type { SessionSummary } from "@imprint/contracts";
import { type SqlBool, sql } from "kysely";
import { afterPrefix, type Transaction } from "../storage/schema.js";
import { searchedText } from "./summary.js";

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
      conflict.column("session_id").doUpdateSet(({ ref }) => ({
        summary: ref("excluded.summary"),
        words: ref("excluded.words"),
        fingerprint: ref("excluded.fingerprint"),
        by_hand: ref("excluded.by_hand"),
      })),
    )
    .execute();
};

/** Says of rows that their files are about to change: until each is recorded again, no bytes are known to be those of its summary. */
export const markChanging = async (db: Transaction, ids: readonly string[]): Promise<void> => {
  await db.updateTable("sessions").set({ fingerprint: null }).where("session_id", "in", ids).execute();
};

/** Forgets rows that were marked when their service was killed: their files tell what they are. */
export const forgetMarked = async (db: Transaction): Promise<void> => {
  await db.deleteFrom("sessions").where("fingerprint", "is", null).execute();
};

export const forgetSession = async (db: Transaction, sessionId: string): Promise<void> => {
  await db.deleteFrom("sessions").where("session_id", "=", sessionId).execute();
};

/** Ids of all rows. */
export const indexedIds = async (db: Transaction): Promise<ReadonlySet<string>> => {
  const rows = await db.selectFrom("sessions").select("session_id").execute();
  return new Set(rows.map(({ session_id }) => session_id));
};

/**
 * Ids of imported sessions that begin with the prefix and have all of the words, newest first. One text for all: ten thousand row
 * objects would take longer than the list itself.
 */
export const importedIds = async (
  db: Transaction,
  { words = [], prefix }: { readonly words?: readonly string[]; readonly prefix?: string | undefined } = {},
): Promise<readonly string[]> => {
  const all = db.selectFrom("sessions").select("session_id").where("by_hand", "=", 0);
  const begun = prefix === undefined ? all : all.where("session_id", ">=", prefix).where("session_id", "<", afterPrefix(prefix));
  const newestFirst = begun
    .where(({ and }) => and(words.map((word) => sql<SqlBool>`instr(words, ${word}) > 0`)))
    .orderBy("stored_at", "desc")
    .orderBy("seq", "desc");
  const { ids } = await db
    .selectFrom(newestFirst.as("newest_first"))
    .select(sql<string | null>`string_agg(session_id, '/')`.as("ids"))
    .executeTakeFirstOrThrow();
  return ids === null ? [] : ids.split("/");
};

/** What the index knows of some sessions, by their ids. */
export const findIndexed = async (db: Transaction, ids: readonly string[]): Promise<ReadonlyMap<string, Indexed>> => {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("sessions")
    .select(["session_id", "summary", "fingerprint", "by_hand"])
    .where("session_id", "in", ids)
    .execute();
  return new Map(
    rows.map(({ session_id, summary, fingerprint, by_hand }) => [
      session_id,
      { summary: JSON.parse(summary) as SessionSummary, fingerprint, byHand: by_hand === 1 },
    ]),
  );
};
