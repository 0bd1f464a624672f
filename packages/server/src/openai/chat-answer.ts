import { type ChatResult, Strict } from "@imprint/contracts";
import { type Static, Type } from "typebox";

const FinishReason = Type.Union([Type.Literal("stop"), Type.Literal("length")]);
const Usage = Strict({ prompt_tokens: Type.Integer(), completion_tokens: Type.Integer(), total_tokens: Type.Integer() });

/** What the objects of one answer have in common. */
const head = { id: Type.String(), created: Type.Integer(), model: Type.String() };
export type Head = { readonly [Name in keyof typeof head]: Static<(typeof head)[Name]> };

export const ChatCompletion = Strict({
  ...head,
  object: Type.Literal("chat.completion"),
  choices: Type.Array(
    Strict({
      index: Type.Integer(),
      message: Strict({ role: Type.Literal("assistant"), content: Type.String() }),
      finish_reason: FinishReason,
    }),
  ),
  usage: Usage,
});
type ChatCompletion = Static<typeof ChatCompletion>;

const Delta = Strict({ role: Type.Optional(Type.Literal("assistant")), content: Type.Optional(Type.String()) });

/** The first chunk has the role, the last one with a choice the finish_reason; after it may come one with the usage. */
export const ChatChunk = Strict({
  ...head,
  object: Type.Literal("chat.completion.chunk"),
  choices: Type.Array(Strict({ index: Type.Integer(), delta: Delta, finish_reason: Type.Union([FinishReason, Type.Null()]) })),
  usage: Type.Optional(Type.Union([Usage, Type.Null()], { description: "With stream_options.include_usage" })),
});
export type ChatChunk = Static<typeof ChatChunk>;

const usageOf = ({ prompt_tokens, completion_tokens }: ChatResult): Static<typeof Usage> => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
});

export const completionOf = (result: ChatResult, head: Head): ChatCompletion => ({
  ...head,
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: result.text }, finish_reason: result.finish_reason }],
  usage: usageOf(result),
});

/** The chunks of an answer whose first step was taken already: a failure before it is no stream. */
export async function* chunksOf(
  { first, texts }: { readonly first: IteratorResult<string, ChatResult>; readonly texts: AsyncIterator<string, ChatResult> },
  { head, includeUsage }: { readonly head: Head; readonly includeUsage: boolean },
): AsyncGenerator<ChatChunk> {
  const common = { ...head, object: "chat.completion.chunk", ...(includeUsage && { usage: null }) } as const;
  const chunk = (delta: Static<typeof Delta>, finish_reason: ChatResult["finish_reason"] | null = null): ChatChunk => ({
    ...common,
    choices: [{ index: 0, delta, finish_reason }],
  });
  yield chunk({ role: "assistant", content: "" });
  let step = first;
  for (; !step.done; step = await texts.next()) yield chunk({ content: step.value });
  yield chunk({}, step.value.finish_reason);
  if (includeUsage) yield { ...common, choices: [], usage: usageOf(step.value) };
}
