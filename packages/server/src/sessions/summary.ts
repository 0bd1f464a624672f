import type { Session, SessionSummary } from "@imprint/contracts";

const TASK_LENGTH = 200;

const shorten = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > TASK_LENGTH ? `${line.slice(0, TASK_LENGTH - 1)}…` : line;
};

/** What lists show of a session. */
export const summarize = (session: Session, createdAt: string): SessionSummary => {
  const agent = session.steps.filter((step) => step.source === "agent");
  const users = session.steps.filter((step) => step.source === "user");
  return {
    session_id: session.session_id,
    format: session.source.format,
    format_version: session.source.format_version,
    outcome: session.outcome,
    task: shorten(users[0]?.text ?? ""),
    user_turns: users.length,
    assistant_turns: agent.length,
    tool_calls: agent.reduce((sum, step) => sum + (step.tool_calls?.length ?? 0), 0),
    tool_results: agent.reduce((sum, step) => sum + (step.observations?.length ?? 0), 0),
    bad_lines: session.bad_lines,
    dropped: session.dropped,
    redactions: session.redactions,
    sha256: session.source.sha256,
    created_at: createdAt,
  };
};
