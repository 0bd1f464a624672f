import type { SessionSummary } from "@imprint/contracts";
import { type SqlBool, sql } from "kysely";
import type { Transaction } from "../storage/schema.js";
import type { IndexChange } from "./save.js";
import { searchedText } from "./search.js";

const columnsOf = (summary: SessionSummary) => ({ summary: JSON.stringify(summary), words: searchedText(summary) });

/** Records what lists show of a session, as the newest. */
export const indexSession = async (db: Transaction, summary: SessionSummary): Promise<void> => {
  await forgetSession(db, summary.session_id);
  await db
    .insertInto("sessions")
    .values({ session_id: summary.session_id, ...columnsOf(summary) })
    .execute();
};

export const indexChanges = async (db: Transaction, changes: readonly IndexChange[]): Promise<void> => {
  for (const { summary, change } of changes) await (change === "newest" ? indexSession : updateIndexed)(db, summary);
};

/** Replaces what lists show of a session, where it stands. A session that is not indexed is read from its file anyway. */
export const updateIndexed = async (db: Transaction, summary: SessionSummary): Promise<void> => {
  await db.updateTable("sessions").set(columnsOf(summary)).where("session_id", "=", summary.session_id).execute();
};

export const forgetSession = async (db: Transaction, sessionId: string): Promise<void> => {
  await db.deleteFrom("sessions").where("session_id", "=", sessionId).execute();
};

/**
 * Ids of indexed sessions that have all of the words, newest first. One text for all: ten thousand row objects would take longer
 * than the list itself.
 */
export const indexedIds = async (db: Transaction, words: readonly string[] = []): Promise<readonly string[]> => {
  const newestFirst = db
    .selectFrom("sessions")
    .select("session_id")
    .where(({ and }) => and(words.map((word) => sql<SqlBool>`instr(words, ${word})`)))
    .orderBy("seq", "desc");
  const { ids } = await db
    .selectFrom(newestFirst.as("newest_first"))
    .select(sql<string | null>`group_concat(session_id, '/')`.as("ids"))
    .executeTakeFirstOrThrow();
  return ids === null ? [] : ids.split("/");
};

export const indexedSummaries = async (db: Transaction, ids: readonly string[]): Promise<ReadonlyMap<string, SessionSummary>> => {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("sessions").select(["session_id", "summary"]).where("session_id", "in", ids).execute();
  return new Map(rows.map((row) => [row.session_id, JSON.parse(row.summary) as SessionSummary]));
};
