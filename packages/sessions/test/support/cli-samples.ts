import { CALL, FIRST_ANSWER, LAST_ANSWER, RESULT, SECOND_ANSWER, SECOND_TASK, TASK } from "./conversation.js";
import { jsonLines } from "./import-text.js";
import type { Sample } from "./sample.js";

const at = (second: number): string => new Date(Date.UTC(2026, 0, 5, 10, 0, second)).toISOString();
const input = JSON.parse(CALL.arguments) as unknown;

const response = { functionResponse: { id: CALL.id, name: CALL.name, response: { output: RESULT } } };

function geminiCli(): readonly unknown[] {
  const message = (second: number, type: string, content: unknown, rest: object = {}): unknown => ({
    id: `g${second}`,
    timestamp: at(second),
    type,
    content,
    ...rest,
  });
  const call = { id: CALL.id, name: CALL.name, args: input, status: "success", timestamp: at(3), result: [response] };
  return [
    message(1, "user", [{ text: TASK }]),
    message(2, "gemini", FIRST_ANSWER, { model: "m-1", thoughts: [], toolCalls: [call] }),
    message(4, "gemini", LAST_ANSWER, { model: "m-1", thoughts: [{ subject: "Digits", description: "They stay." }] }),
    message(5, "user", [{ text: SECOND_TASK }]),
    message(6, "gemini", SECOND_ANSWER, { model: "m-1" }),
  ];
}

const geminiHead = { sessionId: "0b23371a-0000-4000-8000-000000000001", projectHash: "ab".repeat(32), startTime: at(0) };

function qwenCode(): string {
  const line = (index: number, type: string, parts: readonly unknown[], rest: object = {}): unknown => ({
    uuid: `u${index}`,
    parentUuid: index === 0 ? null : `u${index - 1}`,
    sessionId: "019f0000-0000-7000-8000-000000000001",
    timestamp: at(index),
    type,
    cwd: "/work",
    version: "0.21.13",
    message: { role: type === "assistant" ? "model" : "user", parts },
    ...rest,
  });
  const model = { model: "m-1" };
  return jsonLines(
    line(0, "user", [{ text: TASK }], { provenance: "real_user" }),
    line(1, "assistant", [{ text: FIRST_ANSWER }, { functionCall: { id: CALL.id, name: CALL.name, args: input } }], model),
    line(2, "tool_result", [response], { toolCallResult: { callId: CALL.id, status: "success" } }),
    line(3, "assistant", [{ text: "Hm.", thought: true }, { text: LAST_ANSWER }], model),
    line(4, "user", [{ text: SECOND_TASK }]),
    line(5, "assistant", [{ text: SECOND_ANSWER }], model),
  );
}

/** Feedback on what was handed in is how a second request comes. */
function cline(): string {
  const details = { type: "text", text: "<environment_details>\n# Current Time\n10:00\n</environment_details>" };
  const says = (second: number, ...content: unknown[]): unknown => ({
    role: "assistant",
    content,
    ts: Date.parse(at(second)),
    modelInfo: { modelId: "m-1", providerId: "p", mode: "act" },
  });
  const user = (...content: unknown[]): unknown => ({ role: "user", content: [...content, details] });
  const text = (value: string): unknown => ({ type: "text", text: value });
  return JSON.stringify([
    user(text(`<task>\n${TASK}\n</task>`)),
    says(1, text(FIRST_ANSWER), { type: "tool_use", id: CALL.id, name: CALL.name, input }),
    user({ type: "tool_result", tool_use_id: CALL.id, content: [{ type: "text", text: RESULT }] }),
    says(2, text(LAST_ANSWER)),
    user(text(`<feedback>\n${SECOND_TASK}\n</feedback>`)),
    says(3, text(SECOND_ANSWER)),
  ]);
}

/** Printed with `--replay-user-messages`: requests stand in it. */
function claudeStream(): string {
  const session = { session_id: "3f1e6f0a-aaaa-4bbb-8ccc-000000000001", parent_tool_use_id: null };
  const user = (content: unknown, rest: object = {}): unknown => ({
    type: "user",
    message: { role: "user", content },
    ...session,
    ...rest,
  });
  const says = (id: string, ...content: unknown[]): unknown => ({
    type: "assistant",
    message: { id, type: "message", role: "assistant", model: "m-1", content },
    ...session,
  });
  const text = (value: string): unknown => ({ type: "text", text: value });
  const { session_id } = session;
  return jsonLines(
    { type: "system", subtype: "init", session_id, tools: [CALL.name], model: "m-1", claude_code_version: "2.1.0" },
    user(TASK, { isReplay: true }),
    says("msg_1", text(FIRST_ANSWER)),
    says("msg_1", { type: "tool_use", id: CALL.id, name: CALL.name, input }),
    user([{ type: "tool_result", tool_use_id: CALL.id, content: RESULT }]),
    says("msg_2", text(LAST_ANSWER)),
    user([text(SECOND_TASK)], { isReplay: true }),
    says("msg_3", text(SECOND_ANSWER)),
    { type: "result", subtype: "success", is_error: false, result: SECOND_ANSWER, session_id },
  );
}

const OPENCODE_SESSION = {
  id: "ses_0001",
  projectID: "global",
  directory: "/work",
  version: "1.2.20",
  time: { created: Date.parse(at(0)) },
};

function opencodeMessages(): readonly { readonly info: object; readonly parts: readonly object[] }[] {
  const sessionID = OPENCODE_SESSION.id;
  const message = (second: number, info: object, ...parts: readonly object[]) => ({
    info: { id: `msg_${second}`, sessionID, time: { created: Date.parse(at(second)) }, ...info },
    parts: parts.map((part, index) => ({ id: `prt_${second}_${index}`, sessionID, messageID: `msg_${second}`, ...part })),
  });
  const answer = { role: "assistant", modelID: "m-1", providerID: "p", mode: "build" };
  const text = (value: string): object => ({ type: "text", text: value });
  const state = { status: "completed", input, output: RESULT, title: "src/slug.ts", metadata: {}, time: {} };
  return [
    message(1, { role: "user" }, text(TASK)),
    message(2, answer, { type: "step-start" }, text(FIRST_ANSWER), { type: "tool", tool: CALL.name, callID: CALL.id, state }),
    message(3, answer, { type: "step-start" }, text(LAST_ANSWER), { type: "step-finish", reason: "stop" }),
    message(4, { role: "user" }, text(SECOND_TASK)),
    message(5, answer, { type: "step-start" }, text(SECOND_ANSWER)),
  ];
}

/** The same session as opencode's storage holds it: a file for each object. */
export const OPENCODE_FILES: readonly { readonly path: string; readonly text: string }[] = [
  { path: `storage/session/global/${OPENCODE_SESSION.id}.json`, text: JSON.stringify(OPENCODE_SESSION, null, 2) },
  ...opencodeMessages().flatMap(({ info, parts }, at) => [
    { path: `storage/message/${OPENCODE_SESSION.id}/msg_${at + 1}.json`, text: JSON.stringify(info, null, 2) },
    ...parts.map((part, index) => ({ path: `storage/part/msg_${at + 1}/prt_${index}.json`, text: JSON.stringify(part) })),
  ]),
];

function copilotCli(): string {
  const event = (second: number, type: string, data: object): unknown => ({
    type,
    data,
    id: `e${second}`,
    timestamp: at(second),
    parentId: second === 0 ? null : `e${second - 1}`,
  });
  const says = (second: number, content: string, toolRequests: readonly object[] = []): unknown =>
    event(second, "assistant.message", { messageId: `m${second}`, model: "m-1", content, toolRequests, turnId: "0" });
  const start = {
    sessionId: "3c1f0000-0000-4000-8000-000000000001",
    version: 1,
    producer: "copilot-agent",
    copilotVersion: "1.0.55",
  };
  return jsonLines(
    event(0, "session.start", start),
    event(1, "user.message", { content: TASK, transformedContent: `<current_datetime>x</current_datetime>\n\n${TASK}` }),
    event(2, "assistant.turn_start", { turnId: "0" }),
    says(3, FIRST_ANSWER, [{ toolCallId: CALL.id, name: CALL.name, arguments: input, type: "function" }]),
    event(4, "tool.execution_start", { toolCallId: CALL.id, toolName: CALL.name, arguments: input }),
    event(5, "tool.execution_complete", {
      toolCallId: CALL.id,
      success: true,
      result: { content: RESULT, detailedContent: "diff" },
    }),
    says(6, LAST_ANSWER),
    event(7, "user.message", { content: SECOND_TASK }),
    says(8, SECOND_ANSWER),
    event(9, "session.shutdown", { shutdownType: "routine" }),
  );
}

/** As `goose session export --format json` prints it, and its lines as earlier versions kept them. */
const GOOSE = { id: "20260105_1", working_dir: "/work", message_count: 6, model_config: { model_name: "m-1" } };
function gooseMessages(): readonly object[] {
  const message = (second: number, role: string, ...content: readonly object[]) => {
    const inference = { provider: "p", requestedModel: "m-1" };
    const metadata = { userVisible: true, agentVisible: true, ...(role === "assistant" && { inference }) };
    return { id: `msg_${second}`, role, created: Date.parse(at(second)) / 1000, content, metadata };
  };
  const text = (said: string): object => ({ type: "text", text: said });
  const call = {
    type: "toolRequest",
    id: CALL.id,
    toolCall: { status: "success", value: { name: CALL.name, arguments: input } },
  };
  const value = { resultType: "complete", content: [text(RESULT)], isError: false };
  return [
    message(1, "user", text(TASK)),
    message(2, "assistant", text(FIRST_ANSWER), call),
    message(3, "user", { type: "toolResponse", id: CALL.id, toolResult: { status: "success", value } }),
    message(4, "assistant", text(LAST_ANSWER)),
    message(5, "user", text(SECOND_TASK)),
    message(6, "assistant", text(SECOND_ANSWER)),
  ];
}

/** What Cline's command line keeps beside what its editor's extension does. */
function clineRun(): string {
  const message = (second: number, role: string, content: unknown): unknown => ({
    id: `msg_${second}`,
    role,
    content,
    ts: Date.parse(at(second)),
    ...(role === "assistant" && { modelInfo: { id: "m-1", provider: "openai-compatible" } }),
  });
  const text = (words: string): unknown => ({ type: "text", text: words });
  const asked = (words: string): unknown => text(`<user_input mode="act">${words}</user_input>`);
  return JSON.stringify({
    version: 1,
    agent: "lead",
    sessionId: "1795508505198_p4r82",
    origin: { source: "cli", mode: "user", sessionId: "1795508505198_p4r82", version: "3.0.65" },
    messages: [
      message(1, "user", [asked(TASK)]),
      message(2, "assistant", [text(FIRST_ANSWER), { type: "tool_use", id: CALL.id, name: CALL.name, input }]),
      message(3, "user", [{ type: "tool_result", tool_use_id: CALL.id, name: CALL.name, content: RESULT }]),
      message(4, "assistant", [text(LAST_ANSWER)]),
      message(5, "user", [asked(SECOND_TASK)]),
      message(6, "assistant", [text(SECOND_ANSWER)]),
    ],
  });
}

function continueSession(): string {
  const call = { id: CALL.id, type: "function", function: { name: CALL.name, arguments: CALL.arguments } };
  const usage = { prompt_tokens: 9, completion_tokens: 9, model: "m-1" };
  const item = (message: object, more: object = {}): unknown => ({ message, contextItems: [], ...more });
  const state = { toolCallId: CALL.id, toolCall: call, status: "done", output: [{ name: "Tool Result", content: RESULT }] };
  return JSON.stringify({
    sessionId: "89ffa845-0000-4000-8000-000000000001",
    title: "Untitled Session",
    workspaceDirectory: "/work",
    history: [
      item({ role: "user", content: TASK }, { editorState: TASK }),
      item({ role: "assistant", content: FIRST_ANSWER, toolCalls: [call], usage }, { toolCallStates: [state] }),
      item({ role: "assistant", content: LAST_ANSWER, usage }),
      item({ role: "user", content: SECOND_TASK }, { editorState: SECOND_TASK }),
      item({ role: "assistant", content: SECOND_ANSWER, usage }),
    ],
    usage: { totalCost: 0 },
  });
}

/** The conversation as agents of the terminal and the editor write it. */
export const CLI_SAMPLES: readonly Sample[] = [
  { format: "gemini-cli", name: "session.json", text: JSON.stringify({ ...geminiHead, messages: geminiCli() }, null, 2) },
  {
    format: "gemini-cli",
    name: "session.jsonl",
    text: jsonLines(geminiHead, ...geminiCli().flatMap((message) => [message, { $set: { lastUpdated: at(9) } }])),
  },
  { format: "claude-stream", name: "run.jsonl", text: claudeStream() },
  { format: "qwen-code", name: "chat.jsonl", text: qwenCode() },
  { format: "cline", name: "api_conversation_history.json", text: cline() },
  { format: "cline", name: "1795508505198_p4r82.messages.json", text: clineRun() },
  { format: "goose", name: "export.json", text: JSON.stringify({ ...GOOSE, conversation: gooseMessages() }, null, 2) },
  { format: "goose", name: "20260105_100000.jsonl", text: jsonLines(GOOSE, ...gooseMessages()) },
  { format: "continue", name: "session.json", text: continueSession() },
  { format: "copilot-cli", name: "events.jsonl", text: copilotCli() },
  {
    format: "opencode",
    name: "session.json",
    text: JSON.stringify({ info: OPENCODE_SESSION, messages: opencodeMessages() }, null, 2),
  },
];
