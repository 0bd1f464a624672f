import { type AnthropicUsage, isObject, type MessageBlock, type MessageObject, type StopReason } from "@imprint/contracts";
import type { Answer, AnswerEnd, AnswerEvent, AnswerPart } from "../../chat/answer.js";
import { frame } from "../../events/feed.js";
import type { StreamEncoder } from "../answer-stream.js";

/** What the answer and the beginning of its stream have in common. */
export type Head = Pick<MessageObject, "id" | "model">;

const usageOf = (input_tokens: number, output_tokens: number): AnthropicUsage => ({
  input_tokens,
  output_tokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
});

const REASONS = { stop: "end_turn", length: "max_tokens", calls: "tool_use" } as const satisfies Record<string, StopReason>;

const stopOf = ({ reason, stop_text }: AnswerEnd): Pick<MessageObject, "stop_reason" | "stop_sequence"> =>
  reason === "stop" && stop_text !== null
    ? { stop_reason: "stop_sequence", stop_sequence: stop_text }
    : { stop_reason: REASONS[reason], stop_sequence: null };

/** A tool's input is an object: free text that a model wrote instead is one under the name `input`. */
const inputOf = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Free text.
  }
  return { input: text };
};

const blockOf = (part: AnswerPart): MessageBlock =>
  part.type === "text" ? part : { type: "tool_use", id: part.id, name: part.name, input: inputOf(part.arguments) };

const messageOf = (head: Head, content: MessageBlock[]): Omit<MessageObject, "stop_reason" | "stop_sequence" | "usage"> => ({
  ...head,
  type: "message",
  role: "assistant",
  content,
});

export const messageObject = (answer: Answer, head: Head): MessageObject => ({
  ...messageOf(head, answer.parts.map(blockOf)),
  ...stopOf(answer),
  usage: usageOf(answer.prompt_tokens, answer.completion_tokens),
});

/** Anthropic's named events, with pings while there is nothing to say. */
export const messagesEncoder = (head: Head): StreamEncoder => {
  let begun = false;
  let index = 0;
  let isText = false; // a block of text is open

  const event = (type: string, fields: object = {}): string => frame({ type, ...fields }, type);
  const begin = (content_block: MessageBlock): string => event("content_block_start", { index, content_block });
  const delta = (fields: object): string => event("content_block_delta", { index, delta: fields });
  const stop = (): string => event("content_block_stop", { index: index++ });
  const endText = (): string => {
    const end = isText ? stop() : "";
    isText = false;
    return end;
  };

  const beginMessage = (told: AnswerEvent): string => {
    const usage = usageOf(told.type === "begin" ? told.prompt_tokens : 0, 0);
    const message = { ...messageOf(head, []), stop_reason: null, stop_sequence: null, usage } satisfies MessageObject;
    return event("message_start", { message });
  };

  const written = (told: AnswerEvent): string => {
    if (told.type === "text") {
      const start = isText ? "" : begin({ type: "text", text: "" });
      isText = true;
      return start + delta({ type: "text_delta", text: told.text });
    }
    if (told.type === "call") {
      const before = endText() + begin({ type: "tool_use", id: told.id, name: told.name, input: {} });
      const input = JSON.stringify(inputOf(told.arguments));
      return before + delta({ type: "input_json_delta", partial_json: input }) + stop();
    }
    if (told.type !== "end") return "";
    const { prompt_tokens, completion_tokens } = told.end;
    const last = event("message_delta", { delta: stopOf(told.end), usage: usageOf(prompt_tokens, completion_tokens) });
    return endText() + last + event("message_stop");
  };

  return {
    encode: (told) => {
      let life = begun ? "" : beginMessage(told);
      if (!begun || told.type === "idle") life += event("ping");
      begun = true;
      return life + written(told);
    },
    fail: (body) => frame(body, "error"),
  };
};
