import { describe, expect, it } from "vitest";
import { isRefusal, wasEdited } from "../../src/values/refused.js";
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

const roo = (): string => {
  const call = (id: string, command: string): object => ({ type: "tool_use", id, name: "execute_command", input: { command } });
  const result = (id: string, content: string): object => ({ type: "tool_result", tool_use_id: id, content });
  const denied = { status: "denied", message: "The user denied this operation and provided the following feedback" };
  return JSON.stringify([
    { role: "user", content: [{ type: "text", text: "<environment_details>\n# Tabs\n</environment_details>" }] },
    { role: "user", content: "Clean up" },
    { role: "assistant", content: [call("c1", "rm -r dist")] },
    { role: "user", content: [result("c1", JSON.stringify({ ...denied, feedback: "Use npm run clean" }))] },
    { role: "assistant", content: [call("c2", "npm run clean")] },
    { role: "user", content: [result("c2", "clean")] },
  ]);
};

const cursor = (decision: object): string => {
  const call = (id: string, command: string, more: object): object => ({
    ...{ bubbleId: id, type: 2, text: "" },
    toolFormerData: {
      ...{ name: "run_terminal_cmd", toolCallId: id, status: "completed" },
      rawArgs: JSON.stringify({ command }),
      ...more,
    },
  });
  return jsonLines(
    { composerId: "9f3a", fullConversationHeadersOnly: ["u", "c1", "c2"].map((bubbleId) => ({ bubbleId })) },
    { bubbleId: "u", type: 1, text: "Clean up" },
    call("c1", "rm -r dist", decision),
    call("c2", "npm run clean", { result: '{"output":"clean","rejected":false}', userDecision: "accepted" }),
  );
};

const openHands1 = (): string => {
  const event = (id: string, kind: string, source: string, more: object): object => ({ id, kind, source, ...more });
  const act = (id: string): object =>
    event(id, "ActionEvent", "agent", { tool_name: "terminal", tool_call_id: `c${id}`, action: { command: id } });
  const words = { llm_message: { role: "user", content: "Clean up" } };
  return jsonLines(
    event("u", "MessageEvent", "user", words),
    act("1"),
    event("o1", "UserRejectObservation", "environment", { tool_call_id: "c1", rejection_reason: "not that folder" }),
    act("2"),
    event("o2", "ObservationEvent", "environment", { tool_call_id: "c2", observation: { content: "clean" } }),
  );
};

const openHands0 = (): string => {
  const act = (id: number, command: string): object => ({ id, source: "agent", action: "run", args: { command } });
  const content = "Action has been rejected by the user! Waiting for further user input.";
  return JSON.stringify([
    { id: 0, source: "user", action: "message", args: { content: "Clean up" } },
    act(1, "rm -r dist"),
    { id: 2, source: "agent", observation: "user_rejected", cause: 1, content },
    act(3, "npm run clean"),
    { id: 4, source: "agent", observation: "run", cause: 3, content: "clean" },
  ]);
};

const continued = (): string => {
  const answer = (id: string, status: string): object => {
    const call = { id, type: "function", function: { name: "Bash", arguments: `{"command":"${id}"}` } };
    const state = { toolCallId: id, toolCall: call, status, output: [{ content: "clean" }] };
    return { message: { role: "assistant", content: "", toolCalls: [call] }, toolCallStates: [state] };
  };
  const history = [{ message: { role: "user", content: "Clean up" } }, answer("c1", "canceled"), answer("c2", "done")];
  return JSON.stringify({ sessionId: "s-1", history });
};

const vscode = (answer: object): string =>
  JSON.stringify({ requests: [{ requestId: "r", message: { text: "Clean up" }, ...answer }] });

const shown = (): string => {
  const call = (id: string, original: string, type: number): object => ({
    ...{ kind: "toolInvocationSerialized", toolId: "terminal", toolCallId: id, isConfirmed: { type } },
    toolSpecificData: { kind: "terminal", commandLine: { original } },
  });
  return vscode({ response: [call("c1", "rm -r dist", 0), call("c2", "npm run clean", 4)] });
};

const rounds = (): string => {
  const round = (id: string, text: string): object => ({ id, response: text, toolCalls: [{ id, name: "run", arguments: "{}" }] });
  const result = (value: string): object => ({ content: [{ value }] });
  const toolCallResults = { c1: result("The user cancelled the tool call."), c2: result("clean") };
  return vscode({ result: { metadata: { toolCallRounds: [round("c1", "First"), round("c2", "Then")], toolCallResults } } });
};

const mini = (): string => {
  const answer = (command: string): object => ({ role: "assistant", content: `\`\`\`bash\n${command}\n\`\`\`` });
  const no = "Command not executed. The user rejected your command with the following message: use npm";
  const messages = [
    ...[
      { role: "system", content: "You run commands." },
      { role: "user", content: "Clean up" },
    ],
    ...[answer("rm -r dist"), { role: "user", content: no }, answer("npm run clean")],
    { role: "user", content: "<returncode>0</returncode>" },
  ];
  return JSON.stringify({ trajectory_format: "mini-swe-agent-1", info: {}, messages });
};

describe("a call that the person refused is context, and what the agent did instead is learned", () => {
  it.each([
    ["claude-code", claude()],
    ["codex", codex()],
    ["opencode", opencode()],
    ["cline", cline()],
    ["gemini-cli", gemini()],
    ["cline", roo()],
    ["cursor", cursor({ userDecision: "rejected" })],
    ["cursor", cursor({ result: '{"output":"","rejected":true}' })],
    ["cursor", cursor({ additionalData: { status: "rejected" } })],
    ["openhands-v1", openHands1()],
    ["openhands-v0", openHands0()],
    ["continue", continued()],
    ["vscode-chat", shown()],
    ["vscode-chat", rounds()],
    ["mini-swe-agent", mini()],
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
  "The user has declined to run this tool. DO NOT attempt to call this tool again.",
  "-32603: -32600: Tool call cancelled by user",
  "Permission for this action was denied by the Claude Code auto mode classifier. Reason: it deletes data.",
  "Claude requested permissions to write to /w/a.txt, but you haven't granted it yet.",
  'The user has specified a rule which prevents you from using this specific tool call. Here are some of the relevant rules [{"action":"deny"}]',
  "Tool execution denied by policy.",
  "Permission denied by user",
  'exec_command failed: CreateProcess { message: "Rejected(\\"rejected by user\\")" }',
  "Wall time: 0.1 seconds\naborted by user",
  "aborted by user after 4.2s",
  "The user rejected this tool call. User feedback: use wget instead",
  "The user chose to skip the tool call, they want to proceed without running it",
  "Command not executed. Switching to human mode",
  '{"status":"denied","feedback":"use wget"}',
])("is read from what newer agents write: %s", (said) => {
  expect(isRefusal(said)).toBe(true);
});

it.each([
  "Permission denied (publickey).",
  "ERROR: Permission to a/b.git denied to c.",
  "Permission to read a.txt:\nwhat was asked has been denied",
  "3 tests passed: a request is rejected by user id",
  '{"status":"denied","message":"no such buy-in"}',
])("is not read from what a command printed: %s", (said) => {
  expect(isRefusal(said)).toBe(false);
});

describe("a call that the person changed first is context, and no refusal", () => {
  it.each([
    "The file /w/a.py has been updated successfully.  The user modified your proposed changes before accepting them. .",
    "Applied 2 edits to /w/a.py.  The user modified your proposed changes before accepting them.:\n1. Replaced",
    "[write_to_file for 'a.py'] Result:\nThe user made the following updates to your content:\n\n@@ -1 +1 @@",
    '{"path":"a.py","operation":"modified","user_edits":"@@ -1 +1 @@","notice":{}}',
    "<file_write_result>\n<path>a.py</path>\n<operation>modified</operation>\n<user_edits>@@ -1 +1 @@</user_edits>",
    "Successfully modified file: /w/a.py (1 replacements). User modified the `new_string` content to be: LIMIT = 5.",
  ])("where its result says: %s", async (result) => {
    const call = { id: "c1", type: "function", function: { name: "edit", arguments: "{}" } };
    const messages = [
      ...[
        { role: "user", content: "Fix it" },
        { role: "assistant", content: "", tool_calls: [call] },
      ],
      ...[
        { role: "tool", tool_call_id: "c1", content: result },
        { role: "assistant", content: "Done." },
      ],
    ];
    const { sessions } = await importText(JSON.stringify({ messages }));
    expect(sessions[0]?.steps.map(({ context_only: why }) => why)).toEqual([undefined, "edited", undefined]);
    expect(isRefusal(result)).toBe(false);
  });

  it.each([
    "The file /w/a.py has been updated successfully.",
    '{"path":"a.py","operation":"modified","notice":{}}',
    "Successfully modified file: /w/a.py (1 replacements).",
    "notes.md: The user made the following updates to your content:",
  ])("but not where it says: %s", (result) => {
    expect(wasEdited(result)).toBe(false);
  });
});
