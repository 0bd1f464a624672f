import { type ChatSpec, OneOf, Strict } from "@imprint/contracts";
import { type Static, type TSchema, Type } from "typebox";
import { ProblemError } from "../http/problem.js";

const MAX_MESSAGES = 256;
const MAX_TEXT = 262_144;

/** OpenAI's clients may say null for what they leave open. */
const open = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));

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

const refuse = (field: string, message: string): ProblemError =>
  new ProblemError("VALIDATION_FAILED", `Field ${field} ${message}.`, { errors: [{ path: `/${field}`, message }] });

const plainMessage = ({ role, content }: ChatRequest["messages"][number]): ChatSpec["messages"][number] => ({
  // OpenAI's newer name of the same role.
  role: role === "developer" ? "system" : role,
  content: typeof content === "string" ? content : content.map(({ text }) => text).join("\n"),
});

/** A request with every value decided, but for the model. Throws ProblemError for fields that contradict each other. */
export const samplingOf = (request: ChatRequest): Omit<ChatSpec, "base_model" | "adapter_path"> => {
  const { messages, tools = [], max_tokens, max_completion_tokens, stop } = request;
  if (max_tokens != null && max_completion_tokens != null)
    throw refuse("max_completion_tokens", "cannot stand beside max_tokens, its older name");
  if (request.stream_options != null && request.stream !== true) throw refuse("stream_options", "needs stream: true");
  return {
    messages: messages.map(plainMessage),
    tools: tools.map(({ function: { name, description = null, parameters = null } }) => ({ name, description, parameters })),
    max_tokens: max_completion_tokens ?? max_tokens ?? 256,
    temperature: request.temperature ?? 0,
    top_p: request.top_p ?? 1,
    stop: typeof stop === "string" ? [stop] : (stop ?? []),
    seed: request.seed ?? 0,
    stream: request.stream ?? false,
  };
};
