import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "@imprint/contracts";

/** A canonical session with one task and one answer. */
export const makeSession = (sessionId: string, changes: Partial<Session> = {}): Session => ({
  schema_version: 1,
  session_id: sessionId,
  source: { format: "native", format_version: null, agent: null, model: null, sha256: "0".repeat(64) },
  task_type: "code-gen",
  outcome: "success",
  outcome_signal: "success",
  started_at: null,
  tools: [],
  steps: [
    { source: "user", text: "Write a function that adds two numbers." },
    { source: "agent", text: "def add(a, b):\n    return a + b\n" },
  ],
  bad_lines: 0,
  dropped: [],
  redactions: [],
  ...changes,
});

/** Puts a session's file into a data directory by hand. */
export const putSession = (dataDir: string, sessionId: string, content: string | Session = makeSession(sessionId)): void => {
  mkdirSync(join(dataDir, "sessions"), { recursive: true });
  writeFileSync(join(dataDir, "sessions", `${sessionId}.json`), typeof content === "string" ? content : JSON.stringify(content));
};
