import { type Static, Type } from "typebox";
import { Strict } from "./object.js";

/** A function that the model may call, as its chat template lists it. */
export const ChatTool = Strict({
  name: Type.String(),
  description: Type.Union([Type.String(), Type.Null()]),
  parameters: Type.Unknown({ description: "JSON schema of the arguments" }),
});
export type ChatTool = Static<typeof ChatTool>;

/** One answer, fully resolved: the worker assumes nothing. */
export const ChatSpec = Strict({
  base_model: Type.String(),
  adapter_path: Type.Union([Type.String(), Type.Null()]),
  messages: Type.Array(
    Strict({
      role: Type.Union([Type.Literal("system"), Type.Literal("user"), Type.Literal("assistant")]),
      content: Type.String(),
    }),
  ),
  tools: Type.Array(ChatTool),
  max_tokens: Type.Integer({ minimum: 1 }),
  temperature: Type.Number({ minimum: 0 }),
  top_p: Type.Number({ exclusiveMinimum: 0, maximum: 1 }),
  stop: Type.Array(Type.String(), { description: "Texts that end the answer; they are not part of it" }),
  seed: Type.Integer({ minimum: 0 }),
  stream: Type.Boolean({ description: "Whether `token` events tell the text as it is generated" }),
});
export type ChatSpec = Static<typeof ChatSpec>;

/** `text` is what the `token` events told, together. */
export const ChatResult = Strict({
  text: Type.String(),
  finish_reason: Type.Union([Type.Literal("stop"), Type.Literal("length")]),
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
});
export type ChatResult = Static<typeof ChatResult>;
