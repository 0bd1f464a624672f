import { CALL, FIRST_ANSWER, LAST_ANSWER, RESULT, SECOND_ANSWER, SECOND_TASK, TASK } from "./conversation.js";
import { jsonLines } from "./import-text.js";
import type { Sample } from "./sample.js";

const at = (second: number): string => new Date(Date.UTC(2026, 0, 5, 10, 0, second)).toISOString();
const input = JSON.parse(CALL.arguments) as unknown;

/** Only the request, the answers and the calls: in two requests, of which the first took two rounds. */
function vscodeChat(): readonly object[] {
  const request = (
    id: string,
    text: string,
    response: readonly object[],
    rounds: readonly object[],
    results: object,
  ): object => ({
    requestId: id,
    message: { text, parts: [] },
    variableData: { variables: [] },
    response,
    modelId: "copilot/m-1",
    timestamp: Date.parse(at(1)),
    result: { timings: {}, metadata: { toolCallRounds: rounds, toolCallResults: results } },
  });
  const call = { kind: "toolInvocationSerialized", toolId: "copilot_readFile", toolCallId: "x-1", isComplete: true };
  const rounds = [
    { id: "r1", response: FIRST_ANSWER, toolCalls: [{ id: CALL.id, name: CALL.name, arguments: CALL.arguments }] },
    { id: "r2", response: LAST_ANSWER, toolCalls: [] },
  ];
  const results = { [CALL.id]: { $mid: 20, content: [{ $mid: 21, value: RESULT }] } };
  return [
    request("q1", TASK, [{ value: FIRST_ANSWER }, call, { value: LAST_ANSWER }], rounds, results),
    request("q2", SECOND_TASK, [{ value: SECOND_ANSWER }], [{ id: "r3", response: SECOND_ANSWER, toolCalls: [] }], {}),
  ];
}

const chatHead = {
  version: 3,
  sessionId: "7d1e0000-0000-4000-8000-000000000001",
  creationDate: Date.parse(at(0)),
  responderUsername: "GitHub Copilot",
};

function vscodeLog(): string {
  const [first, second] = vscodeChat();
  return jsonLines(
    { kind: 0, v: { ...chatHead, requests: [] } },
    { kind: 2, k: ["requests"], v: [{ ...first, response: [], result: undefined }] },
    { kind: 2, k: ["requests", 0, "response"], v: [{ value: "I'll rea" }] },
    { kind: 2, k: ["requests", 0, "response"], i: 0, v: (first as { response: unknown }).response },
    { kind: 1, k: ["requests", 0, "result"], v: (first as { result: unknown }).result },
    { kind: 2, k: ["requests"], v: [second] },
    { kind: 1, k: ["customTitle"], v: "Digits" },
  );
}

function cursor(): string {
  const bubble = (id: string, type: number, text: string, more: object = {}): object => ({
    bubbleId: id,
    type,
    text,
    createdAt: at(1),
    ...more,
  });
  const tool = {
    tool: 5,
    name: CALL.name,
    toolCallId: CALL.id,
    status: "completed",
    rawArgs: CALL.arguments,
    result: JSON.stringify({ contents: RESULT }),
  };
  const bubbles = [
    bubble("b1", 1, TASK),
    bubble("b2", 2, FIRST_ANSWER),
    bubble("b3", 2, "", { capabilityType: 15, toolFormerData: tool }),
    bubble("b4", 2, LAST_ANSWER),
    bubble("b5", 1, SECOND_TASK),
    bubble("b6", 2, SECOND_ANSWER),
  ];
  const headers = bubbles.map((one) => ({ bubbleId: (one as { bubbleId: string }).bubbleId }));
  const composer = {
    _v: 10,
    composerId: "9f3a0000-0000-4000-8000-000000000001",
    createdAt: Date.parse(at(0)),
    status: "completed",
  };
  return jsonLines({ ...composer, fullConversationHeadersOnly: headers }, ...bubbles.reverse());
}

function geminiStream(): string {
  const event = (second: number, type: string, more: object): object => ({ type, timestamp: at(second), ...more });
  const piece = (second: number, content: string): object =>
    event(second, "message", { role: "assistant", content, delta: true });
  const pieces = (second: number, text: string): readonly object[] => [
    piece(second, text.slice(0, 5)),
    piece(second, text.slice(5)),
  ];
  return jsonLines(
    event(0, "init", { session_id: "2b4c0000-0000-4000-8000-000000000001", model: "m-1" }),
    event(1, "message", { role: "user", content: TASK }),
    ...pieces(2, FIRST_ANSWER),
    event(3, "tool_use", { tool_name: CALL.name, tool_id: CALL.id, parameters: input }),
    event(4, "tool_result", { tool_id: CALL.id, status: "success", output: RESULT }),
    ...pieces(5, LAST_ANSWER),
    event(6, "message", { role: "user", content: SECOND_TASK }),
    piece(7, SECOND_ANSWER),
    event(8, "result", { status: "success", stats: { total_tokens: 9 } }),
  );
}

function agentDataProtocol(): string {
  const heard = (source: string, content: string): object => ({ class_: "text_observation", content, name: null, source });
  const says = (content: string): object => ({ class_: "message_action", content, description: null });
  return JSON.stringify({
    id: "slug_1",
    content: [
      heard("user", TASK),
      { class_: "api_action", function: CALL.name, kwargs: input, description: FIRST_ANSWER },
      heard("environment", RESULT),
      says(LAST_ANSWER),
      heard("user", SECOND_TASK),
      says(SECOND_ANSWER),
    ],
    details: {},
  });
}

/** The conversation as editors, tools without a screen and a protocol of data sets write it. */
export const EDITOR_SAMPLES: readonly Sample[] = [
  { format: "vscode-chat", name: "chat.json", text: JSON.stringify({ ...chatHead, requests: vscodeChat() }, null, 2) },
  { format: "vscode-chat", name: "chat.jsonl", text: vscodeLog() },
  { format: "cursor", name: "cursor.jsonl", text: cursor() },
  { format: "gemini-stream", name: "gemini.jsonl", text: geminiStream() },
  { format: "agent-data-protocol", name: "slug.json", text: agentDataProtocol() },
];

function codexExec(): string {
  const item = (type: string, id: number, more: object): object => ({
    type: `item.${type}`,
    item: { id: `item_${id}`, ...more },
  });
  const says = (id: number, text: string): object => item("completed", id, { type: "agent_message", text });
  const run = { type: "command_execution", command: "cat src/slug.ts", aggregated_output: "", exit_code: null };
  return jsonLines(
    { type: "thread.started", thread_id: "019f0000-0000-7000-8000-00000000000b" },
    { type: "turn.started" },
    says(0, FIRST_ANSWER),
    item("started", 1, { ...run, status: "in_progress" }),
    item("completed", 1, { ...run, aggregated_output: RESULT, exit_code: 0, status: "completed" }),
    says(2, LAST_ANSWER),
    { type: "turn.completed", usage: {} },
  );
}

/** The output of a run whose request is not in it. */
export const RUN_SAMPLES: readonly Sample[] = [{ format: "codex-exec", name: "exec.jsonl", text: codexExec() }];
