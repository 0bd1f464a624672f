import { type Static, Type } from "typebox";
import { Strict } from "./object.js";

/** A function that the model may call, as its chat template lists it. */
export const ChatTool = Strict({
  name: Type.String(),
  description: Type.Union([Type.String(), Type.Null()]),
  parameters: Type.Unknown({ description: "JSON schema of the arguments" }),
});
export type ChatTool = Static<typeof ChatTool>;

/** A call in an assistant's message; `arguments` is the text that the model wrote, JSON or not. */
export const ChatToolCall = Strict({ id: Type.String(), name: Type.String(), arguments: Type.String() });
export type ChatToolCall = Static<typeof ChatToolCall>;

/** One turn. A result (role `tool`) names its call in `tool_call_id`. */
export const ChatMessage = Strict({
  role: Type.Union([Type.Literal("system"), Type.Literal("user"), Type.Literal("assistant"), Type.Literal("tool")]),
  content: Type.String(),
  tool_calls: Type.Array(ChatToolCall, { description: "Of an assistant; else empty" }),
  tool_call_id: Type.Union([Type.String(), Type.Null()], { description: "Null but for role tool" }),
});
export type ChatMessage = Static<typeof ChatMessage>;

export const ToolChoice = Type.Union([Type.Literal("auto"), Type.Literal("required"), Strict({ name: Type.String() })], {
  description: "Whether tools may be called, one of them must be, or which one must be",
});
export type ToolChoice = Static<typeof ToolChoice>;

/** One answer, fully resolved: the worker assumes nothing. */
export const ChatSpec = Strict({
  base_model: Type.String(),
  adapter_path: Type.Union([Type.String(), Type.Null()]),
  messages: Type.Array(ChatMessage),
  tools: Type.Array(ChatTool),
  tool_choice: ToolChoice,
  parallel_tool_calls: Type.Boolean(),
  json_schema: Type.Unknown({ description: "What the answer must be; null: any text. Refused by an engine without grammars" }),
  max_tokens: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: "Cut to the room that the prompt leaves, which null asks for; 0 only counts the prompt",
  }),
  temperature: Type.Number({ minimum: 0 }),
  top_p: Type.Number({ exclusiveMinimum: 0, maximum: 1 }),
  top_k: Type.Integer({ minimum: 0, description: "0: all tokens may be drawn" }),
  min_p: Type.Number({ minimum: 0, maximum: 1 }),
  enable_thinking: Type.Union([Type.Boolean(), Type.Null()], {
    description: "Whether templates that know it let the model think aloud; null: as the adapter learned, else yes",
  }),
  stop: Type.Array(Type.String(), { description: "Texts that end the answer; they are not part of it" }),
  seed: Type.Integer({ minimum: 0 }),
  stream: Type.Boolean({ description: "Whether `token` events tell the text as it is generated" }),
});
export type ChatSpec = Static<typeof ChatSpec>;

/** What is known of a prompt before the first token of its answer. */
export const ChatPrompt = Strict({
  prompt_tokens: Type.Integer(),
  tool_format: Type.Union([Type.String(), Type.Null()], {
    description: "How the answer's text holds calls and thoughts; null where there are neither tools nor thoughts",
  }),
});
export type ChatPrompt = Static<typeof ChatPrompt>;

/** A prompt for an engine that has no templates: token ids in, token ids out. */
export const RenderedPrompt = Strict({
  tokens: Type.Array(Type.Integer({ minimum: 0 }), { description: "What the model goes on from: the prompt, then `opening`" }),
  prompt_tokens: Type.Integer(),
  opening: Type.String({ description: "What the answer begins with: a call that has to be made; mostly empty" }),
  tool_format: ChatPrompt.properties.tool_format,
  max_new_tokens: Type.Integer({
    minimum: 0,
    description: "Of the answer, without `opening`; 0 where only the prompt was asked for",
  }),
  context_length: Type.Integer(),
  end_tokens: Type.Array(Type.Integer({ minimum: 0 })),
  quantization: Type.Union([Type.Literal("nf4"), Type.Literal("none")], { description: "Of the base that answers" }),
});
export type RenderedPrompt = Static<typeof RenderedPrompt>;

/** `text` is what the `token` events told, together. */
export const ChatResult = Strict({
  text: Type.String(),
  finish_reason: Type.Union([Type.Literal("stop"), Type.Literal("length")]),
  stop_text: Type.Union([Type.String(), Type.Null()], { description: "The text of `stop` that ended the answer" }),
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
});
export type ChatResult = Static<typeof ChatResult>;
