import { readFileSync } from "node:fs";
import path from "node:path";
import { ROOT } from "../../setup/root.mjs";

const FILES = [
  ["Imprint's native shape", "sessions/harborline-gates.json"],
  ["Claude Code's shape", "sessions/claude-code/5b0f6d1e-9c44-4a7b-8f12-7413c0ffee01.jsonl"],
];

/** Imports the example in both shapes. Resolves with the id of the native one. */
export async function importExamples({ client, paper, signal }) {
  paper.step("Import a recorded session");
  const ids = [];
  for (const [shape, file] of FILES) {
    const bytes = readFileSync(path.join(ROOT, "examples", file));
    const { sessions } = await client.sessions.create(bytes, { signal });
    const [session] = sessions;
    ids.push(session.session_id);
    paper.item(`${paper.paint("green", "✓")} examples/${file}`);
    const size = `${session.assistant_turns} turns, ${session.tool_calls} tool calls, outcome ${session.outcome}`;
    paper.remark(`  ${shape}: session ${session.session_id}, ${size}`);
  }
  paper.remark("Three attempts at a parser for the made-up harbour gateway Harborline; the last one passes its checks.");
  return ids[0];
}
