import type { Session, SessionSummary } from "@imprint/contracts";
import { summarize } from "@imprint/sessions";

/** What lists show of a session that was stored at `createdAt`. */
export const toSummary = (session: Session, createdAt: string): SessionSummary => ({
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
});
