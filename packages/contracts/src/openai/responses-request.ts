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
  sampling,
  Temperature,
  TopP,
} from "./open.js";

/** Types of items that are read. */
export const RESPONSE_ITEMS = [
  "message",
  "reasoning",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
] as const;

/** A message where it names no other type; what else an item holds depends on its type. Further fields are not looked at. */
const Item = Type.Object({
  type: Type.Optional(OneOf(RESPONSE_ITEMS)),
  role: Type.Optional(OneOf(["system", "developer", "user", "assistant"])),
  content: Type.Optional(Content),
  call_id: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  namespace: open(Type.String()),
  arguments: Type.Optional(Type.String()),
  input: Type.Optional(Type.String({ description: "Of a custom_tool_call" })),
  output: Type.Optional(Content),
});

const FunctionTool = Type.Object({
  type: Type.Literal("function"),
  name: FunctionName,
  description: open(Type.String()),
  parameters: Parameters,
  strict: open(Type.Boolean({ description: "Calls keep to the schema, where the engine can hold them to it" })),
});

/** A function of one text, which is written as it is. */
const CustomTool = Type.Object({ type: Type.Literal("custom"), name: FunctionName, description: open(Type.String()) });

const Tool = Type.Union([
  FunctionTool,
  CustomTool,
  Type.Object({
    type: Type.Literal("namespace"),
    name: FunctionName,
    tools: Type.Array(Type.Union([FunctionTool, CustomTool, OtherThan("function", "custom")])),
  }),
  OtherThan("function", "custom", "namespace"),
]);

/** The part of OpenAI's Responses request that the service honours, and what cannot change an answer here. */
export const ResponsesRequest = Strict({
  model: ModelName,
  input: Type.Union([Type.String(), Type.Array(Type.Union([Item, OtherThan(...RESPONSE_ITEMS)]))]),
  instructions: open(Type.String()),
  tools: open(Type.Array(Tool)),
  tool_choice: open(
    Type.Union([OneOf(["auto", "none", "required"]), Strict({ type: OneOf(["function", "custom"]), name: Type.String() })]),
  ),
  parallel_tool_calls: open(Type.Boolean()),
  text: open(
    Type.Object({
      format: open(
        Type.Union([
          Strict({ type: OneOf(["text", "json_object"]) }),
          Type.Object({ type: Type.Literal("json_schema"), schema: Type.Record(Type.String(), Type.Unknown()) }),
        ]),
      ),
    }),
  ),
  max_output_tokens: MaxTokens,
  temperature: Temperature,
  top_p: TopP,
  ...sampling,
  stream: open(Type.Boolean()),
  stream_options: ignored,
  store: Type.Optional(Type.Unknown({ description: "Accepted; nothing is stored" })),
  previous_response_id: open(Type.String({ description: "Refused: nothing is stored" })),
  background: open(Type.Literal(false)),
  truncation: open(Type.Literal("disabled")),
  top_logprobs: open(Type.Literal(0)),
  include: ignored,
  reasoning: ignored,
  metadata: ignored,
  client_metadata: ignored,
  user: ignored,
  safety_identifier: ignored,
  prompt_cache_key: ignored,
  prompt_cache_retention: ignored,
  service_tier: ignored,
  max_tool_calls: ignored,
});
export type ResponsesRequest = Static<typeof ResponsesRequest>;
