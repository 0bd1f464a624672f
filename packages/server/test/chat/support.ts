import type { ChatResult, ChatSpec } from "@imprint/contracts";
import { type AnswerEvent, answerTo } from "../../src/chat/answer.js";
import type { ChatEvent } from "../../src/runners/runner.js";
import { manualClock } from "../common/manual-clock.js";
import { chatCall } from "../runners/support.js";

export const BASH = { name: "bash", description: null, parameters: { type: "object" } };

/** Words, a call, words, a call, as models of the Hermes family write them. */
export const TWO_CALLS = [
  "I look around.\n<tool_call>\n",
  '{"name": "bash", "arguments": {"command": "ls -a | grep \\"gr\\u00fc\\u00dfe 🦘\\""}}',
  "\n</tool_call>\nAnd \u2028 then:\n<tool_call>\n",
  '{"name": "bash", "arguments": {}}',
  "\n</tool_call>",
].join("");

export const specOf = (changes: Partial<ChatSpec> = {}): ChatSpec => chatCall({ tools: [BASH], stream: true, ...changes }).spec;

export const resultOf = (changes: Partial<ChatResult> = {}): ChatResult => ({
  text: "",
  finish_reason: "stop",
  stop_text: null,
  prompt_tokens: 7,
  completion_tokens: 5,
  ...changes,
});

/** An engine that tells a text in these pieces. */
export const replay =
  (pieces: readonly string[], changes: Partial<ChatResult> = {}, tool_format: string | null = "hermes") =>
  async (onEvent: (event: ChatEvent) => void): Promise<ChatResult> => {
    onEvent({ type: "prompt", prompt: { prompt_tokens: 7, tool_format } });
    for (const text of pieces) onEvent({ type: "token", text });
    return resultOf({ text: pieces.join(""), ...changes });
  };

export const eventsOf = async (
  pieces: readonly string[],
  { spec = specOf(), result = {} }: { readonly spec?: ChatSpec; readonly result?: Partial<ChatResult> } = {},
): Promise<AnswerEvent[]> => {
  const events: AnswerEvent[] = [];
  for await (const event of answerTo(spec, replay(pieces, result), { clock: manualClock() })) events.push(event);
  return events;
};

export async function* again(events: readonly AnswerEvent[]): AsyncGenerator<AnswerEvent, void> {
  yield* events;
}
