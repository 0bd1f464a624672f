import { utimes } from "node:fs/promises";
import type { Outcome, Session, SessionSummary } from "@imprint/contracts";
import { writeAtomically } from "../registry/durable.js";
import { type StoredSession, sessionPath } from "./read.js";
import { toSummary } from "./summary.js";

/** Says in a stored session's file how the session ended. What its source said (`outcome_signal`) stays. */
export const labelSession = async ({
  stored: { session, storedAt },
  folder,
  outcome,
}: {
  readonly stored: StoredSession;
  readonly folder: string;
  readonly outcome: Outcome;
}): Promise<{ readonly summary: SessionSummary; readonly isChanged: boolean }> => {
  const labelled: Session = { ...session, outcome };
  const isChanged = session.outcome !== outcome;
  if (isChanged) {
    const path = sessionPath(folder, session.session_id);
    await writeAtomically(path, `${JSON.stringify(labelled)}\n`);
    // The time of the file is when the session was stored.
    await utimes(path, new Date(storedAt), new Date(storedAt));
  }
  return { summary: await toSummary(labelled, storedAt), isChanged };
};
