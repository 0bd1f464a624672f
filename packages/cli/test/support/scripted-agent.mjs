#!/usr/bin/env node
// What mini-SWE-agent does, as far as a task can tell: it asks for calls of one tool, runs them in the folder that it was started in,
// and ends once the model calls none. It notes each start in the file that the prompt may name by `LOG=`.
import { spawnSync } from "node:child_process";

const args = process.argv.slice(2);
const after = (name) => args[args.indexOf(name) + 1];
const { OPENAI_API_BASE, OPENAI_API_KEY } = process.env;
const parameters = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };
const tools = [{ type: "function", function: { name: "bash", description: "Run a command", parameters } }];
const messages = [{ role: "user", content: after("-t") }];

for (;;) {
  const response = await fetch(`${OPENAI_API_BASE}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${OPENAI_API_KEY}` },
    body: JSON.stringify({ model: after("-m").replace("openai/", ""), messages, tools }),
  });
  const { choices, error } = await response.json();
  if (error !== undefined) {
    console.error(error.message);
    process.exit(1);
  }
  const [{ message }] = choices;
  messages.push(message);
  if (!message.tool_calls?.length) break;
  for (const {
    id,
    function: { arguments: given },
  } of message.tool_calls) {
    const { stdout, stderr, status } = spawnSync("sh", ["-c", JSON.parse(given).command], { encoding: "utf8" });
    messages.push({ role: "tool", tool_call_id: id, content: JSON.stringify({ stdout, stderr, status }) });
  }
}
