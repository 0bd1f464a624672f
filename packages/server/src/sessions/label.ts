import { utimes } from "node:fs/promises";
import type { Outcome, SessionSummary } from "@imprint/contracts";
import { writeAtomically } from "../registry/durable.js";
import type { Session as DatabaseSession } from "../registry/schema.js";
import { updateIndexed } from "./index-table.js";
import { type ReadOptions, readSession, sessionPath } from "./read.js";
import { toSummary } from "./summary.js";

/**
 * Says how a stored session ended. What its file said (`outcome_signal`) stays.
 * @throws JobError SESSION_NOT_FOUND or SESSION_INVALID
 */
export const labelSession = async ({
  db,
  outcome,
  ...stored
}: ReadOptions & { readonly db: DatabaseSession; readonly outcome: Outcome }): Promise<SessionSummary> => {
  const { session, storedAt } = await readSession(stored);
  const summary = await toSummary({ ...session, outcome }, storedAt);
  if (session.outcome === outcome) return summary;
  const path = sessionPath(stored.folder, stored.sessionId);
  await writeAtomically(path, `${JSON.stringify({ ...session, outcome })}\n`);
  // The time of the file is when the session was stored.
  await utimes(path, new Date(storedAt), new Date(storedAt));
  await updateIndexed(db, summary);
  return summary;
};
