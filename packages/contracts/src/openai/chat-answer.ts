import { type Static, Type } from "typebox";
import { Strict } from "../object.js";

const FinishReason = Type.Union([Type.Literal("stop"), Type.Literal("length"), Type.Literal("tool_calls")]);
export const ChatUsage = Strict({
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
});
export type ChatUsage = Static<typeof ChatUsage>;

/** What the objects of one answer have in common. */
const head = { id: Type.String(), created: Type.Integer(), model: Type.String() };

export const ChatCompletion = Strict({
  ...head,
  object: Type.Literal("chat.completion"),
  choices: Type.Array(
    Strict({
      index: Type.Integer(),
      message: Strict({
        role: Type.Literal("assistant"),
        content: Type.Union([Type.String(), Type.Null()], { description: "Null beside calls, where there are no words" }),
        tool_calls: Type.Optional(
          Type.Array(
            Strict({
              id: Type.String(),
              type: Type.Literal("function"),
              function: Strict({ name: Type.String(), arguments: Type.String({ description: "As the model wrote them" }) }),
            }),
          ),
        ),
      }),
      finish_reason: FinishReason,
    }),
  ),
  usage: ChatUsage,
});
export type ChatCompletion = Static<typeof ChatCompletion>;

/** The first piece of a call has its id and name, the others what follows of its arguments. */
const CallDelta = Strict({
  index: Type.Integer(),
  id: Type.Optional(Type.String()),
  type: Type.Optional(Type.Literal("function")),
  function: Strict({ name: Type.Optional(Type.String()), arguments: Type.String() }),
});

export const ChatDelta = Strict({
  role: Type.Optional(Type.Literal("assistant")),
  content: Type.Optional(Type.String()),
  tool_calls: Type.Optional(Type.Array(CallDelta)),
});
export type ChatDelta = Static<typeof ChatDelta>;

/** The first chunk has the role, the last one with a choice the finish_reason; after it may come one with the usage. */
export const ChatChunk = Strict({
  ...head,
  object: Type.Literal("chat.completion.chunk"),
  choices: Type.Array(
    Strict({ index: Type.Integer(), delta: ChatDelta, finish_reason: Type.Union([FinishReason, Type.Null()]) }),
  ),
  usage: Type.Optional(Type.Union([ChatUsage, Type.Null()], { description: "With stream_options.include_usage" })),
});
export type ChatChunk = Static<typeof ChatChunk>;
