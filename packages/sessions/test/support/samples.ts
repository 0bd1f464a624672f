import { CLI_SAMPLES } from "./cli-samples.js";
import { CALL, FIRST_ANSWER, LAST_ANSWER, RESULT, SECOND_ANSWER, SECOND_TASK, TASK } from "./conversation.js";
import { EDITOR_SAMPLES, RUN_SAMPLES } from "./editor-samples.js";
import { jsonLines } from "./import-text.js";
import type { Sample } from "./sample.js";

const at = (second: number): string => new Date(Date.UTC(2026, 0, 5, 10, 0, second)).toISOString();
const input = JSON.parse(CALL.arguments) as unknown;

const openAiCall = { id: CALL.id, type: "function", function: { name: CALL.name, arguments: CALL.arguments } };
const chat = [
  { role: "user", content: TASK },
  { role: "assistant", content: FIRST_ANSWER, tool_calls: [openAiCall] },
  { role: "tool", tool_call_id: CALL.id, content: RESULT },
  { role: "assistant", content: LAST_ANSWER },
  { role: "user", content: SECOND_TASK },
  { role: "assistant", content: SECOND_ANSWER },
];

function claudeCode(): string {
  const line = (index: number, type: string, message: unknown): unknown => ({
    type,
    uuid: `u${index}`,
    parentUuid: index === 0 ? null : `u${index - 1}`,
    isSidechain: false,
    sessionId: "3f1e6f0a-aaaa-4bbb-8ccc-000000000001",
    version: "2.1.0",
    timestamp: at(index),
    message,
  });
  const says = (id: string, ...content: unknown[]): unknown => ({
    id,
    type: "message",
    role: "assistant",
    model: "m-1",
    content,
  });
  return jsonLines(
    line(0, "user", { role: "user", content: TASK }),
    line(1, "assistant", says("msg_1", { type: "text", text: FIRST_ANSWER })),
    line(2, "assistant", says("msg_1", { type: "tool_use", id: CALL.id, name: CALL.name, input })),
    line(3, "user", { role: "user", content: [{ type: "tool_result", tool_use_id: CALL.id, content: RESULT }] }),
    line(4, "assistant", says("msg_2", { type: "text", text: LAST_ANSWER })),
    line(5, "user", { role: "user", content: [{ type: "text", text: SECOND_TASK }] }),
    line(6, "assistant", says("msg_3", { type: "text", text: SECOND_ANSWER })),
  );
}

function codex(): string {
  const item = (second: number, payload: unknown): unknown => ({ timestamp: at(second), type: "response_item", payload });
  const message = (role: string, text: string): unknown => ({
    type: "message",
    role,
    content: [{ type: role === "user" ? "input_text" : "output_text", text }],
  });
  return jsonLines(
    { timestamp: at(0), type: "session_meta", payload: { id: "019f0000-1111-7222-8333-444455556666", cli_version: "0.99.0" } },
    { timestamp: at(1), type: "turn_context", payload: { model: "m-1" } },
    item(2, message("user", TASK)),
    item(3, message("assistant", FIRST_ANSWER)),
    item(4, { type: "function_call", name: CALL.name, arguments: CALL.arguments, call_id: CALL.id }),
    item(5, { type: "function_call_output", call_id: CALL.id, output: RESULT }),
    item(6, message("assistant", LAST_ANSWER)),
    item(7, message("user", SECOND_TASK)),
    item(8, message("assistant", SECOND_ANSWER)),
  );
}

function openHandsV0(): string {
  const event = (id: number, source: string, rest: object): unknown => ({ id, timestamp: at(id), source, ...rest });
  const says = (id: number, text: string): unknown => event(id, "agent", { action: "message", args: { content: text } });
  const metadata = {
    tool_call_id: CALL.id,
    function_name: CALL.name,
    model_response: { id: "resp-1", model: "m-1", choices: [{ message: { content: FIRST_ANSWER, tool_calls: [openAiCall] } }] },
  };
  return JSON.stringify([
    event(0, "user", { action: "message", args: { content: TASK } }),
    event(1, "agent", { action: "read", args: { path: "src/slug.ts" }, tool_call_metadata: metadata }),
    event(2, "agent", { observation: "read", cause: 1, content: RESULT, extras: {} }),
    says(3, LAST_ANSWER),
    event(4, "user", { action: "message", args: { content: SECOND_TASK } }),
    says(5, SECOND_ANSWER),
  ]);
}

function openHandsV1(): string {
  const text = (value: string): unknown => [{ type: "text", text: value }];
  const event = (index: number, source: string, kind: string, rest: object): unknown => ({
    id: `e${index}`,
    timestamp: at(index),
    source,
    kind,
    ...rest,
  });
  const message = (index: number, source: string, role: string, value: string): unknown =>
    event(index, source, "MessageEvent", { llm_message: { role, content: text(value) } });
  return jsonLines(
    message(0, "user", "user", TASK),
    event(1, "agent", "ActionEvent", {
      thought: text(FIRST_ANSWER),
      tool_name: CALL.name,
      tool_call_id: CALL.id,
      tool_call: { id: CALL.id, name: CALL.name, arguments: CALL.arguments },
      llm_response_id: "r1",
    }),
    event(2, "environment", "ObservationEvent", {
      tool_call_id: CALL.id,
      observation: { content: text(RESULT), is_error: false },
    }),
    message(3, "agent", "assistant", LAST_ANSWER),
    message(4, "user", "user", SECOND_TASK),
    message(5, "agent", "assistant", SECOND_ANSWER),
  );
}

function atif(): string {
  const call = { tool_call_id: CALL.id, function_name: CALL.name, arguments: input };
  return JSON.stringify({
    schema_version: "ATIF-v1.6",
    session_id: "atif-run-1",
    agent: { name: "tester", version: "1", model_name: "m-1" },
    steps: [
      { step_id: 1, source: "user", message: TASK },
      {
        step_id: 2,
        source: "agent",
        message: FIRST_ANSWER,
        tool_calls: [call],
        observation: { results: [{ source_call_id: null, content: RESULT }] },
      },
      { step_id: 3, source: "agent", message: LAST_ANSWER },
      { step_id: 4, source: "user", message: SECOND_TASK },
      { step_id: 5, source: "agent", message: SECOND_ANSWER },
    ],
  });
}

function shareGpt(): string {
  const turns = [
    ["human", TASK],
    ["gpt", FIRST_ANSWER],
    ["function_call", JSON.stringify({ name: CALL.name, arguments: CALL.arguments })],
    ["observation", RESULT],
    ["gpt", LAST_ANSWER],
    ["human", SECOND_TASK],
    ["gpt", SECOND_ANSWER],
  ];
  return jsonLines({ conversations: turns.map(([from, value]) => ({ from, value })) });
}

function pi(): string {
  const entry = (index: number, message: object): unknown => ({
    type: "message",
    id: `m${index}`,
    parentId: index === 0 ? null : `m${index - 1}`,
    timestamp: at(index),
    message,
  });
  const says = (...content: unknown[]): object => ({ role: "assistant", content, model: "m-1", stopReason: "stop" });
  const text = (value: string): unknown => ({ type: "text", text: value });
  return jsonLines(
    { type: "session", version: 3, id: "pi-session-1", timestamp: at(0), cwd: "/work" },
    entry(0, { role: "user", content: TASK }),
    entry(1, says(text(FIRST_ANSWER), { type: "toolCall", id: CALL.id, name: CALL.name, arguments: input })),
    entry(2, { role: "toolResult", toolCallId: CALL.id, toolName: CALL.name, content: [text(RESULT)], isError: false }),
    entry(3, says(text(LAST_ANSWER))),
    entry(4, { role: "user", content: [text(SECOND_TASK)] }),
    entry(5, says(text(SECOND_ANSWER))),
  );
}

function sts(): string {
  const message = (value: object): unknown => ({ type: "message", message: value });
  const call = { id: CALL.id, function: { name: CALL.name, arguments: CALL.arguments } };
  return jsonLines(
    { type: "session", harness: "tester", id: "sts-1" },
    message({ role: "user", content: TASK }),
    message({ role: "assistant", content: FIRST_ANSWER, toolCalls: [call] }),
    message({ role: "tool", toolCallId: CALL.id, content: RESULT }),
    message({ role: "assistant", content: LAST_ANSWER }),
    message({ role: "user", content: SECOND_TASK }),
    message({ role: "assistant", content: SECOND_ANSWER }),
  );
}

function gateway(): string {
  const messages = chat.map(({ role, content, ...more }) => ({
    role,
    content,
    tool_calls: "tool_calls" in more ? [CALL] : [],
    tool_call_id: "tool_call_id" in more ? more.tool_call_id : null,
  }));
  const head = { recorded_by: "imprint", version: 1, session_id: "gateway-1", started_at: at(0), agent: "tester", model: "m-1" };
  const answered = messages.flatMap(({ role }, place) => (role === "assistant" ? [place] : []));
  return JSON.stringify({ ...head, tools: [], messages, answered, cut: [] });
}

const asHistory = chat.map((message) =>
  "tool_call_id" in message ? { ...message, tool_call_ids: [message.tool_call_id] } : message,
);

/** The same conversation as each format with tool calls writes it. */
export const SAMPLES: readonly Sample[] = [
  { format: "claude-code", name: "log.jsonl", text: claudeCode() },
  { format: "codex", name: "rollout-1.jsonl", text: codex() },
  {
    format: "swe-agent",
    name: "run.traj",
    text: JSON.stringify({ history: asHistory, info: { exit_status: "submitted" } }, null, 2),
    users: [TASK],
  },
  {
    format: "mini-swe-agent",
    name: "run.traj.json",
    text: JSON.stringify(
      { info: { exit_status: "Submitted", mini_version: "2" }, messages: chat, trajectory_format: "mini-swe-agent-1.1" },
      null,
      1,
    ),
  },
  { format: "openhands-v0", name: "trajectory.json", text: openHandsV0() },
  { format: "openhands-v1", name: "events.jsonl", text: openHandsV1() },
  { format: "atif", name: "trajectory.json", text: atif() },
  { format: "chat-jsonl", name: "chat.jsonl", text: jsonLines({ messages: chat }) },
  { format: "sharegpt", name: "share.jsonl", text: shareGpt() },
  { format: "sts", name: "trace.jsonl", text: sts() },
  { format: "pi", name: "pi.jsonl", text: pi() },
  { format: "gateway", name: "recorded.json", text: gateway() },
  ...CLI_SAMPLES,
  ...EDITOR_SAMPLES,
];

/** Formats that cannot hold the whole conversation. */
export const PLAIN_SAMPLES: readonly Sample[] = [
  ...RUN_SAMPLES,
  {
    format: "native",
    name: "native.json",
    text: JSON.stringify({
      session_id: "native-1",
      task_description: TASK,
      task_type: "function",
      adapter_ids: [],
      outcome: "success",
      timestamp: at(0),
      steps: [
        { generated_code: "def f():\n    return 1\n", stdout: "F", stderr: "boom", exit_code: 1, tests_passed: false },
        { generated_code: "def f():\n    return 2\n", stdout: "1 passed", stderr: "", exit_code: 0, tests_passed: true },
      ],
    }),
  },
  {
    format: "aider",
    name: ".aider.chat.history.md",
    text: [
      "# aider chat started at 2026-01-05 10:00:00",
      "",
      "> Aider v0.80.0  ",
      "> Main model: m-1 with diff edit format  ",
      "",
      "#### Make `slugify` keep digits.  ",
      "#### Use the tests as they are.  ",
      "",
      FIRST_ANSWER,
      "",
      "> Applied edit to src/slug.ts  ",
      "",
      "#### /undo  ",
      "> Removed it  ",
      "",
      `#### ${SECOND_TASK}  `,
      "",
      "> a quotation is aider's only at the start",
      "goes on  ",
      "",
      SECOND_ANSWER,
      "",
    ].join("\n"),
  },
];
