import { type Static, Type } from "typebox";
import { OneOf, Strict } from "../object.js";
import { open } from "./open.js";

const MAX_MESSAGES = 256;
const MAX_TEXT = 262_144;

const Text = Type.String({ maxLength: MAX_TEXT });

const Message = Strict({
  role: OneOf(["system", "developer", "user", "assistant"]),
  content: Type.Union([
    Text,
    Type.Array(Strict({ type: Type.Literal("text"), text: Text }), { minItems: 1, maxItems: MAX_MESSAGES }),
  ]),
});

const Tool = Strict({
  type: Type.Literal("function"),
  function: Strict({
    name: Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" }),
    description: Type.Optional(Type.String({ maxLength: 16_384 })),
    parameters: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: "JSON schema of the arguments" })),
    strict: open(Type.Literal(false)),
  }),
});

const StopText = Type.String({ minLength: 1, maxLength: 256 });
const MaxTokens = open(Type.Integer({ minimum: 1, maximum: 4096, description: "Default: 256" }));

/** The part of OpenAI's request that the service honours. */
export const ChatRequest = Strict({
  model: Type.String({ minLength: 1, maxLength: 200, description: "An adapter's id, or a base model's name" }),
  messages: Type.Array(Message, { minItems: 1, maxItems: MAX_MESSAGES }),
  tools: Type.Optional(
    Type.Array(Tool, { maxItems: 128, description: "Listed in the prompt; calls come as the model writes them" }),
  ),
  stream: open(Type.Boolean()),
  stream_options: open(Strict({ include_usage: Type.Optional(Type.Boolean()) })),
  max_tokens: MaxTokens,
  max_completion_tokens: MaxTokens,
  temperature: open(Type.Number({ minimum: 0, maximum: 2, description: "Default: 0, always the likeliest token" })),
  top_p: open(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
  stop: open(Type.Union([StopText, Type.Array(StopText, { maxItems: 4 })])),
  seed: open(Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 })),
  n: open(Type.Literal(1)),
});
export type ChatRequest = Static<typeof ChatRequest>;
