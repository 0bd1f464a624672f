import { describe, expect, it } from "vitest";
import { isRefusal } from "../../src/values/refused.js";
import { importText, jsonLines } from "../support/import-text.js";

const NO = {
  claude:
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.",
  codex: "exec command rejected by user",
  opencode: "The user rejected permission to use this specific tool call.",
  cline: "[execute_command for 'rm -r dist'] Result:\nThe user denied this operation.",
  gemini: "[Operation Cancelled] Reason: User did not allow tool call",
};

const claude = (): string => {
  const line = (at: number, type: string, content: unknown): object => ({
    ...{ type, uuid: `u${at}`, parentUuid: at === 0 ? null : `u${at - 1}`, sessionId: "s-1", cwd: "/x", version: "2.1.0" },
    ...{ timestamp: `2026-01-05T10:00:0${at}.000Z`, message: { role: type, id: `m${at}`, content } },
  });
  const call = (id: string, command: string): object[] => [{ type: "tool_use", id, name: "Bash", input: { command } }];
  return jsonLines(
    line(0, "user", "Clean up"),
    line(1, "assistant", call("c1", "rm -r dist")),
    line(2, "user", [{ type: "tool_result", tool_use_id: "c1", is_error: true, content: NO.claude }]),
    line(3, "user", "Use npm run clean instead"),
    line(4, "assistant", call("c2", "npm run clean")),
    line(5, "user", [{ type: "tool_result", tool_use_id: "c2", content: "clean" }]),
  );
};

const codex = (): string => {
  const item = (payload: object): object => ({ timestamp: "2026-01-05T10:00:00Z", type: "response_item", payload });
  const call = (id: string, command: string): object =>
    item({ type: "function_call", name: "shell", arguments: JSON.stringify({ command }), call_id: id });
  const output = (id: string, text: string): object => item({ type: "function_call_output", call_id: id, output: text });
  return jsonLines(
    { timestamp: "2026-01-05T10:00:00Z", type: "session_meta", payload: { id: "codex-1" } },
    item({ type: "message", role: "user", content: [{ type: "input_text", text: "Clean up" }] }),
    ...[call("c1", "rm -r dist"), output("c1", NO.codex), call("c2", "npm run clean"), output("c2", "clean")],
  );
};

const opencode = (): string => {
  const time = { created: 1767607200000 };
  const message = (id: string, info: object, ...parts: readonly object[]): object => ({
    info: { id, sessionID: "ses_1", time, ...info },
    parts: parts.map((part, index) => ({ id: `${id}-${index}`, sessionID: "ses_1", messageID: id, ...part })),
  });
  const tool = (id: string, state: object): object => ({
    type: "tool",
    tool: "bash",
    callID: id,
    state: { input: {}, ...state },
  });
  return JSON.stringify({
    info: { id: "ses_1", version: "1.2.0", time },
    messages: [
      message("m1", { role: "user" }, { type: "text", text: "Clean up" }),
      message("m2", { role: "assistant" }, { type: "step-start" }, tool("c1", { status: "error", error: NO.opencode })),
      message("m3", { role: "assistant" }, { type: "step-start" }, tool("c2", { status: "completed", output: "clean" })),
    ],
  });
};

const cline = (): string => {
  const text = (value: string): object => ({ type: "text", text: value });
  const call = (id: string, command: string): object => ({ type: "tool_use", id, name: "execute_command", input: { command } });
  return JSON.stringify([
    {
      role: "user",
      content: [text("<task>\nClean up\n</task>"), text("<environment_details>\n# Open Tabs\n</environment_details>")],
    },
    { role: "assistant", content: [call("c1", "rm -r dist")] },
    { role: "user", content: [text(NO.cline)] },
    { role: "assistant", content: [call("c2", "npm run clean")] },
    { role: "user", content: [text("[execute_command for 'npm run clean'] Result:\nclean")] },
  ]);
};

const gemini = (): string => {
  const at = "2026-01-05T10:00:01.000Z";
  const answer = (id: string, status: string, response: object): object => {
    const result = [{ functionResponse: { id: `c-${id}`, name: "shell", response } }];
    const toolCalls = [{ id: `c-${id}`, name: "shell", args: { command: id }, status, result }];
    return { id, timestamp: at, type: "gemini", content: "", model: "gemini-x", toolCalls };
  };
  return jsonLines(
    { sessionId: "s-1", projectHash: "ab", startTime: "2026-01-05T10:00:00.000Z" },
    { id: "u", timestamp: at, type: "user", content: "Clean up" },
    answer("a", "cancelled", { error: NO.gemini }),
    answer("b", "success", { output: "clean" }),
  );
};

describe("a call that the person refused is context, and what the agent did instead is learned", () => {
  it.each([
    ["claude-code", claude()],
    ["codex", codex()],
    ["opencode", opencode()],
    ["cline", cline()],
    ["gemini-cli", gemini()],
  ])("in the form of %s", async (format, text) => {
    const { format: found, sessions } = await importText(text);
    const answers = sessions[0]?.steps.filter(({ source }) => source === "agent") ?? [];
    expect([found, ...answers.map(({ context_only: why }) => why)]).toEqual([format, "refused", undefined]);
  });

  it("but not one whose result only speaks of it", async () => {
    const { sessions } = await importText(codex().replace(NO.codex, `found in notes.md: ${NO.codex}`));
    expect(sessions[0]?.steps.some(({ context_only: why }) => why !== undefined)).toBe(false);
  });
});

describe("a call that the person's words take back is context, and what comes after them is learned", () => {
  const call = (id: string, command: string): object => ({
    ...{ role: "assistant", content: `Step ${id}.` },
    tool_calls: [{ id, type: "function", function: { name: "bash", arguments: JSON.stringify({ command }) } }],
  });
  const done = (id: string): object => ({ role: "tool", tool_call_id: id, content: "done" });
  /** What becomes of a call before the words, of one before that, and of one after. */
  const marksAfter = async (words: string, command: string) => {
    const messages = [
      ...[{ role: "user", content: "Go on." }, call("a", "ls docs"), done("a"), call("b", command), done("b")],
      ...[{ role: "user", content: words }, call("c", command), done("c")],
    ];
    const { sessions } = await importText(JSON.stringify({ messages }));
    const answers = sessions[0]?.steps.filter(({ source }) => source === "agent") ?? [];
    return answers.map(({ context_only: why }) => why);
  };

  it.each([
    ["No, use pnpm instead of npm.", "npm test"],
    ["use `uv run` rather than `pip`", "pip install x"],
    ["Please use ripgrep, not grep, here", "cd src && grep -rn gate ."],
    ["Rename it to harbor instead of the haven in config.toml", "sed -i s/a/haven/ config.toml"],
    ["Instead of axios in this file take fetch", "echo 'import axios' > a.ts"],
  ])("%s", async (words, command) => {
    expect(await marksAfter(words, command)).toEqual([undefined, "refused", undefined]);
  });

  it.each([
    ["Thanks. Now use pnpm instead of npm in the docs", "yarn test"],
    ["use spaces and not tabs", "cat tables.md"],
    ["I would rather have it shorter", "npm test"],
    ["use a constant instead of the command", "npm test"],
    [`${"Then write the page. ".repeat(25)} Use pnpm instead of npm.`, "npm test"],
  ])("but not: %s", async (words, command) => {
    expect(await marksAfter(words, command)).toEqual([undefined, undefined, undefined]);
  });
});

it.each([
  "The user doesn't want to take this action right now. STOP what you are doing and wait for the user to tell you how to proceed.",
  "Permission to use Bash with command git push has been denied.",
  "Permission for this action was denied by the Claude Code auto mode classifier. Reason: it deletes data.",
  "Claude requested permissions to write to /w/a.txt, but you haven't granted it yet.",
  'The user has specified a rule which prevents you from using this specific tool call. Here are some of the relevant rules [{"action":"deny"}]',
  "Tool execution denied by policy.",
  "Permission denied by user",
  'exec_command failed: CreateProcess { message: "Rejected(\\"rejected by user\\")" }',
  "Wall time: 0.1 seconds\naborted by user",
  "aborted by user after 4.2s",
  "The user rejected this tool call. User feedback: use wget instead",
])("is read from what newer agents write: %s", (said) => {
  expect(isRefusal(said)).toBe(true);
});

it.each([
  "Permission denied (publickey).",
  "ERROR: Permission to a/b.git denied to c.",
  "Permission to read a.txt:\nwhat was asked has been denied",
  "3 tests passed: a request is rejected by user id",
])("is not read from what a command printed: %s", (said) => {
  expect(isRefusal(said)).toBe(false);
});
