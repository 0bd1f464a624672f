import { endingOf, type Session, type SessionSummary } from "@imprint/contracts";

/** What lists show of a session that was stored at `createdAt`. */
export const toSummary = async (session: Session, createdAt: string): Promise<SessionSummary> => {
  // Loaded at the first use, so that the start does not wait.
  const { summarize } = await import("@imprint/sessions");
  return {
    session_id: session.session_id,
    format: session.source.format,
    format_version: session.source.format_version,
    outcome: session.outcome,
    ...summarize(session),
    bad_lines: session.bad_lines,
    dropped: session.dropped,
    redactions: session.redactions,
    sha256: session.source.sha256,
    created_at: createdAt,
  };
};

/** What a search looks through: the words that lists show, in small letters. */
export const searchedText = (session: SessionSummary): string => {
  const { session_id, format, outcome, repository, folder, branch, model, task } = session;
  return [session_id, format, outcome, endingOf(session), repository, folder, branch, model, task].join(" ").toLowerCase();
};

/** The words of a search: a session is found that has all of them, as parts of its own. */
export const wordsOf = (search: string): readonly string[] => search.toLowerCase().split(/\s+/).filter(Boolean);
