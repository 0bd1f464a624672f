import type { Redaction } from "@imprint/contracts";

/** What a data set's card tells of its sessions. */
export interface DatasetFacts {
  readonly splits: readonly {
    readonly name: string;
    readonly rows: number;
    readonly from: string | null;
    readonly to: string | null;
  }[];
  readonly agents: readonly (readonly [agent: string, sessions: number])[];
  readonly messages: number;
  readonly learned: number;
  readonly redactions: readonly Redaction[];
}

const day = (time: string | null): string => time?.slice(0, 10) ?? "no time recorded";

const text = (...names: readonly string[]): readonly string[] => names.flatMap((name) => [`- name: ${name}`, "  dtype: string"]);
const indented = (lines: readonly string[], by: number): readonly string[] => lines.map((line) => " ".repeat(by) + line);

/** The columns' types: the library guesses them from a split's first rows, and refuses a later one that has what these lack. */
const FEATURES = [
  ...text("session_id", "agent", "model", "format", "outcome", "started_at", "tools"),
  "- name: messages",
  "  list:",
  ...indented(text("role", "content", "reasoning_content"), 2),
  "  - name: tool_calls",
  "    list:",
  ...indented(text("id", "type"), 4),
  "    - name: function",
  "      struct:",
  ...indented(text("name", "arguments"), 6),
  ...indented(text("tool_call_id"), 2),
  "  - name: weight",
  "    dtype: int64",
];

/** The README.md of a data set, with the front matter by which hubs and the library `datasets` find its files. */
export function datasetCard({ splits, agents, messages, learned, redactions }: DatasetFacts): string {
  const files = splits.map(({ name }) => `      - split: ${name}\n        path: data/${name}.jsonl`);
  const rows = splits.map(({ name, rows, from, to }) => `| ${name} | ${rows} | ${day(from)} | ${day(to)} |`);
  const removed = redactions.map(({ kind, count }) => `| ${kind} | ${count} |`);
  return `---
configs:
  - config_name: default
    data_files:
${files.join("\n")}
dataset_info:
  features:
${indented(FEATURES, 2).join("\n")}
tags:
  - coding-agents
  - imprint
---

# Coding sessions

Recorded sessions of ${agents.map(([agent, count]) => `${agent} (${count})`).join(", ") || "coding agents"}, written by \`imprint export-sessions\`. A row is a session.

| split | sessions | first | last |
|---|---|---|---|
${rows.join("\n")}

The split is by time: whatever is tested came after whatever is trained on. Sessions of one repository can stand in both.

## Fields

\`messages\` and \`tools\` have OpenAI's shape; \`tools\` and the arguments of calls are JSON texts, so that columns have one type. \`weight\` of an assistant's message is 1 where it is a target (${learned} of ${messages} messages) and 0 where it is
context: failed or aborted turns, text that no model wrote.

## Secrets

Removed before the sessions were stored, and counted here. **A search for secrets finds those that look like some**: read what you publish.

| kind | removed |
|---|---|
${removed.join("\n") || "| none | 0 |"}

Names, paths and code of the recorded work are all there. Terms of the vendor whose model wrote the answers may restrict what they are trained into.
`;
}
