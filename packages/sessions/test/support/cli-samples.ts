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

/** The conversation as agents of the terminal and the editor write it. */
export const CLI_SAMPLES: readonly Sample[] = [
  { format: "gemini-cli", name: "session.json", text: JSON.stringify({ ...geminiHead, messages: geminiCli() }, null, 2) },
  {
    format: "gemini-cli",
    name: "session.jsonl",
    text: jsonLines(geminiHead, ...geminiCli().flatMap((message) => [message, { $set: { lastUpdated: at(9) } }])),
  },
  { format: "cline", name: "api_conversation_history.json", text: cline() },
];
