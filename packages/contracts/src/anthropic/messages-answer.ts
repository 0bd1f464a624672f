import { type Static, Type } from "typebox";
import { OneOf, Strict } from "../object.js";

export const AnthropicUsage = Strict({
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  cache_creation_input_tokens: Type.Integer(),
  cache_read_input_tokens: Type.Integer(),
});
export type AnthropicUsage = Static<typeof AnthropicUsage>;

export const MessageBlock = Type.Union([
  Strict({ type: Type.Literal("text"), text: Type.String() }),
  Strict({
    type: Type.Literal("tool_use"),
    id: Type.String(),
    name: Type.String(),
    input: Type.Record(Type.String(), Type.Unknown(), {
      description: "What the model wrote; {input: text} where that was no JSON object",
    }),
  }),
]);
export type MessageBlock = Static<typeof MessageBlock>;

export const StopReason = OneOf(["end_turn", "max_tokens", "stop_sequence", "tool_use"]);
export type StopReason = Static<typeof StopReason>;

/** Anthropic's message, as answers are. */
export const MessageObject = Strict({
  id: Type.String(),
  type: Type.Literal("message"),
  role: Type.Literal("assistant"),
  model: Type.String(),
  content: Type.Array(MessageBlock),
  stop_reason: Type.Union([StopReason, Type.Null()], { description: "Null at the beginning of a stream" }),
  stop_sequence: Type.Union([Type.String(), Type.Null()]),
  usage: AnthropicUsage,
});
export type MessageObject = Static<typeof MessageObject>;

/** One of the events of a stream; which further fields it has depends on its type. */
export const MessageEvent = Type.Object({ type: Type.String() });

export const TokenCount = Strict({ input_tokens: Type.Integer() });
export type TokenCount = Static<typeof TokenCount>;
