import { type Static, Type } from "typebox";
import { OneOf, Strict } from "../object.js";
import { FunctionName, ignored, ModelName, OtherThan, open, sampling } from "../openai/open.js";

/** Types of blocks that are read. */
export const MESSAGE_BLOCKS = ["text", "tool_use", "tool_result", "thinking", "redacted_thinking", "image", "document"] as const;
/** What a block holds depends on its type. Further fields, as `cache_control`, are not looked at. */
const Block = Type.Object({
  type: OneOf(MESSAGE_BLOCKS),
  text: Type.Optional(Type.String()),
  id: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  input: Type.Optional(Type.Unknown()),
  tool_use_id: Type.Optional(Type.String()),
  content: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.Object({ type: Type.String(), text: Type.Optional(Type.String()) }))]),
  ),
});

const Tool = Type.Object({
  type: open(Type.Literal("custom")),
  name: FunctionName,
  description: open(Type.String()),
  input_schema: Type.Record(Type.String(), Type.Unknown()),
});

/** What is counted: all that the prompt is made of, and what cannot change it here. */
const prompt = {
  model: ModelName,
  messages: Type.Array(
    Type.Object({
      role: OneOf(["user", "assistant", "system"]),
      content: Type.Union([Type.String(), Type.Array(Type.Union([Block, OtherThan(...MESSAGE_BLOCKS)]))]),
    }),
    { minItems: 1 },
  ),
  system: open(Type.Union([Type.String(), Type.Array(Type.Object({ type: Type.Literal("text"), text: Type.String() }))])),
  tools: open(Type.Array(Type.Union([Tool, OtherThan("custom")]))),
  tool_choice: open(
    Type.Union([
      Type.Object({ type: OneOf(["auto", "any", "none"]), disable_parallel_tool_use: open(Type.Boolean()) }),
      Type.Object({ type: Type.Literal("tool"), name: Type.String(), disable_parallel_tool_use: open(Type.Boolean()) }),
    ]),
  ),
  output_config: open(
    Type.Object({
      format: open(Type.Object({ type: Type.Literal("json_schema"), schema: Type.Record(Type.String(), Type.Unknown()) })),
    }),
  ),
  thinking: ignored,
  context_management: ignored,
  cache_control: ignored,
  mcp_servers: open(Type.Array(Type.Unknown(), { maxItems: 0 })),
};

export const CountTokensRequest = Strict(prompt);
export type CountTokensRequest = Static<typeof CountTokensRequest>;

/** The part of Anthropic's request that the service honours, and what cannot change an answer here. */
export const MessagesRequest = Strict({
  ...prompt,
  max_tokens: Type.Integer({ minimum: 1, description: "Cut to the room that the prompt leaves in the context" }),
  stream: open(Type.Boolean()),
  stop_sequences: open(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 64 })),
  temperature: open(Type.Number({ minimum: 0, maximum: 1, description: "Default: 0, always the likeliest token" })),
  top_p: open(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
  ...sampling,
  metadata: ignored,
  service_tier: ignored,
  inference_geo: ignored,
  speed: ignored,
  container: open(Type.Never()),
});
export type MessagesRequest = Static<typeof MessagesRequest>;
