import { type Static, type TSchema, Type } from "typebox";
import { Strict } from "../object.js";

const Status = Type.Union([Type.Literal("in_progress"), Type.Literal("completed"), Type.Literal("incomplete")]);

export const ResponseItem = Type.Union([
  Strict({
    id: Type.String(),
    type: Type.Literal("message"),
    status: Status,
    role: Type.Literal("assistant"),
    content: Type.Array(
      Strict({
        type: Type.Literal("output_text"),
        text: Type.String(),
        annotations: Type.Array(Type.Never()),
        logprobs: Type.Array(Type.Never()),
      }),
    ),
  }),
  Strict({
    id: Type.String(),
    type: Type.Literal("function_call"),
    status: Status,
    call_id: Type.String(),
    name: Type.String(),
    namespace: Type.Optional(Type.String({ description: "Of a tool that came in one" })),
    arguments: Type.String({ description: "As the model wrote them" }),
  }),
  Strict({
    id: Type.String(),
    type: Type.Literal("custom_tool_call"),
    status: Status,
    call_id: Type.String(),
    name: Type.String(),
    namespace: Type.Optional(Type.String()),
    input: Type.String(),
  }),
]);
export type ResponseItem = Static<typeof ResponseItem>;

const ResponseUsage = Strict({
  input_tokens: Type.Integer(),
  input_tokens_details: Strict({ cached_tokens: Type.Integer() }),
  output_tokens: Type.Integer(),
  output_tokens_details: Strict({ reasoning_tokens: Type.Integer() }),
  total_tokens: Type.Integer(),
});

const Null = Type.Null();
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Null]);

/** OpenAI's response object. What was asked comes back in it, with what was decided for it. */
export const ResponseObject = Strict({
  id: Type.String(),
  object: Type.Literal("response"),
  created_at: Type.Integer(),
  status: Type.Union([...Status.anyOf, Type.Literal("failed")]),
  error: orNull(Strict({ code: Type.String(), message: Type.String() })),
  incomplete_details: orNull(Strict({ reason: Type.Literal("max_output_tokens") })),
  model: Type.String(),
  output: Type.Array(ResponseItem),
  usage: orNull(ResponseUsage),
  instructions: orNull(Type.String()),
  max_output_tokens: orNull(Type.Integer()),
  metadata: Type.Unknown(),
  parallel_tool_calls: Type.Boolean(),
  previous_response_id: Null,
  store: Type.Literal(false),
  temperature: Type.Number(),
  text: Strict({ format: Type.Unknown() }),
  tool_choice: Type.Unknown(),
  tools: Type.Array(Type.Unknown()),
  top_p: Type.Number(),
  truncation: Type.Literal("disabled"),
});
export type ResponseObject = Static<typeof ResponseObject>;

/** One of the events of a stream; which further fields it has depends on its type. */
export const ResponseEvent = Type.Object({ type: Type.String(), sequence_number: Type.Integer() });
