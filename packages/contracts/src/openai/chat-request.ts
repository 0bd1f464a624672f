import { type Static, Type } from "typebox";
import { OneOf, Strict } from "../object.js";
import {
  Content,
  FunctionName,
  ignored,
  MaxTokens,
  ModelName,
  OtherThan,
  open,
  Parameters,
  Seed,
  sampling,
  Temperature,
  TopP,
} from "./open.js";

/** Clients give messages back as they came, with fields of any server: those are not looked at. */
const Message = Type.Object({
  role: OneOf(["system", "developer", "user", "assistant", "tool"]),
  content: Type.Optional(Content),
  tool_calls: open(
    Type.Array(
      Type.Union([
        Type.Object({
          id: Type.String(),
          type: Type.Optional(Type.Literal("function")),
          function: Type.Object({ name: Type.String(), arguments: Type.String() }),
        }),
        OtherThan("function"),
      ]),
    ),
  ),
  tool_call_id: Type.Optional(Type.String({ description: "Of role tool" })),
  function_call: Type.Optional(Type.Null()),
});

const Tool = Strict({
  type: Type.Literal("function"),
  function: Strict({
    name: FunctionName,
    description: open(Type.String()),
    parameters: Parameters,
    strict: open(Type.Boolean({ description: "Calls keep to the schema, where the engine can hold them to it" })),
  }),
});

const StopText = Type.String({ minLength: 1, maxLength: 256 });
const Zero = open(Type.Literal(0));

/** The part of OpenAI's request that the service honours, and what cannot change an answer here. */
export const ChatRequest = Strict({
  model: ModelName,
  messages: Type.Array(Message, { minItems: 1 }),
  tools: open(Type.Array(Type.Union([Tool, OtherThan("function")]))),
  tool_choice: open(
    Type.Union([
      OneOf(["auto", "none", "required"]),
      Strict({ type: Type.Literal("function"), function: Strict({ name: Type.String() }) }),
    ]),
  ),
  parallel_tool_calls: open(Type.Boolean()),
  response_format: open(
    Type.Union([
      Strict({ type: OneOf(["text", "json_object"]) }),
      Strict({ type: Type.Literal("json_schema"), json_schema: Type.Object({ schema: Parameters }) }),
    ]),
  ),
  stream: open(Type.Boolean()),
  stream_options: open(
    Strict({ include_usage: Type.Optional(Type.Boolean()), include_obfuscation: Type.Optional(Type.Boolean()) }),
  ),
  max_tokens: MaxTokens,
  max_completion_tokens: MaxTokens,
  temperature: Temperature,
  top_p: TopP,
  stop: open(Type.Union([StopText, Type.Array(StopText, { maxItems: 4 })])),
  seed: Seed,
  ...sampling,
  n: open(Type.Literal(1)),
  frequency_penalty: Zero,
  presence_penalty: Zero,
  logprobs: open(Type.Literal(false)),
  top_logprobs: Zero,
  logit_bias: open(Strict({})),
  modalities: open(Type.Array(Type.Literal("text"))),
  store: ignored,
  metadata: ignored,
  user: ignored,
  safety_identifier: ignored,
  prompt_cache_key: ignored,
  prompt_cache_retention: ignored,
  service_tier: ignored,
  reasoning_effort: ignored,
  verbosity: ignored,
  prediction: ignored,
});
export type ChatRequest = Static<typeof ChatRequest>;
