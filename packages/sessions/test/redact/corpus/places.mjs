import { CLOSE, OPEN } from "./values.mjs";

const escaped = (text) => JSON.stringify(text).slice(1, -1);
const numbered = (text, line) =>
  ["import os", "", ...text.split("\n"), "", "def main():", "    run()"].map((one, index) => line(index + 1, one)).join("\n");

/** A reader tool's print: `cat -n`, Claude Code's arrow, and others. */
const readers = [
  (at, one) => `${String(at).padStart(6)}\t${one}`,
  (at, one) => `${String(at).padStart(6)}→${one}`,
  (at, one) => `${String(at).padStart(4)} | ${one}`,
  (at, one) => `${at}: ${one}`,
];

/** JSON that holds the text as a string, or as a string of JSON inside a string. */
const dumps = [
  (text) => `[{"Id": "web-1", "Config": {"Env": ["LANG=C", "${escaped(text)}"], "Cmd": ["run"]}}]`,
  (text) => `{"status": 200, "body": "${escaped(`{"log": "${escaped(text)}", "ok": true}`)}"}`,
  (text) => `{"files": [{"name": "a.txt", "content": "${escaped(text)}"}], "truncated": false}`,
];

const command = (text) => ({ command: `cat > notes.txt <<'END'\n${text}\nEND` });
const calls = [command, (text) => ({ path: "a.txt", content: `${text}\n` }), (text) => ({ old: "x = 1", new: text, count: 1 })];

const tool = (description, parameters) => ({ type: "function", function: { name: "run", description, parameters } });
const text = { type: "string" };
const tools = [
  (value) => [tool(`Runs a command. Set up with:\n${value}`, { type: "object", properties: { command: text } })],
  (value) => [tool("Runs a command.", { type: "object", properties: { command: { ...text, default: value } } })],
  (value) => [
    tool("Runs a command.", { type: "object", properties: { command: { ...text, description: `For example\n${value}` } } }),
  ],
];

/** Where a text stands in a session: each gives the parts of a session (session.mjs) that differ from a plain one. */
export const PLACES = {
  user: (value, d) => ({ user: d.pick([`Please fix the start-up.\n\n${value}\n\nThanks.`, `${value}\nWhy does this fail?`]) }),
  answer: (value, d) => ({
    answer: d.pick([`This is what stands there:\n\n\`\`\`\n${value}\n\`\`\`\n`, `I will use this:\n${value}\n`]),
  }),
  reasoning: (value) => ({ reasoning: `Let me see. The file says\n${value}\nso the next step is clear.` }),
  arguments: (value, d) => ({ input: d.pick(calls)(value) }),
  result: (value, d) => ({ result: d.pick([value, `$ cat notes.txt\n${value}\n`, `ok\n${value}\nexit code 0`]) }),
  "file view": (value, d) => ({ result: numbered(value, d.pick(readers)) }),
  dump: (value, d) => ({ result: d.pick(dumps)(value) }),
  tools: (value, d) => ({ tools: d.pick(tools)(value), chat: true }),
};

/** Places of their own kind: only tokens that stand alone are ids. */
export const CALL_ID = "call id";

/** The plain text and what in it must not survive, of a text with marks. */
export function read(marked) {
  const pieces = [];
  for (const match of marked.matchAll(new RegExp(`${OPEN}([^${CLOSE}]*)${CLOSE}`, "gu"))) pieces.push(match[1]);
  return { text: marked.replaceAll(OPEN, "").replaceAll(CLOSE, ""), pieces };
}
