import type { Session, Step } from "@imprint/contracts";

export const sessionOf = (steps: readonly Step[], session_id = "s1"): Session => ({
  schema_version: 1,
  session_id,
  source: { format: "native", format_version: null, agent: null, model: null, sha256: "0".repeat(64) },
  task_type: null,
  outcome: "success",
  outcome_signal: null,
  started_at: null,
  tools: [],
  steps: [...steps],
  bad_lines: 0,
  dropped: [],
  redactions: [],
});

export const user = (text: string): Step => ({ source: "user", text });
export const agent = (text: string, more: Partial<Step> = {}): Step => ({ source: "agent", text, ...more });

/** An agent's step that runs a command. */
export const running = (text: string, command: string, output: string): Step =>
  agent(text, {
    tool_calls: [{ id: "c", name: "bash", arguments: JSON.stringify({ command }) }],
    observations: [{ call_id: "c", content: output }],
  });
