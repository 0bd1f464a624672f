import type { Outcome, Session, SessionSummary } from "@imprint/contracts";
import type { StoredSession } from "./read.js";
import { toSummary } from "./summary.js";
import { stageSession } from "./write.js";

/** Stages a stored session with how it ended, where that is news. What its source said (`outcome_signal`) stays. */
export const stageLabel = async (
  { session, storedAt }: StoredSession,
  { outcome, staging }: { readonly outcome: Outcome; readonly staging: string },
): Promise<{ readonly summary: SessionSummary; readonly isChanged: boolean }> => {
  const labelled: Session = { ...session, outcome };
  const isChanged = session.outcome !== outcome;
  if (isChanged) await stageSession({ session: labelled, storedAt }, staging);
  return { summary: await toSummary(labelled, storedAt), isChanged };
};
