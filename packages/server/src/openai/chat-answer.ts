import type { ChatChunk, ChatCompletion, ChatDelta, ChatResult, ChatUsage } from "@imprint/contracts";

/** What the objects of one answer have in common. */
export type Head = Pick<ChatCompletion, "id" | "created" | "model">;

const usageOf = ({ prompt_tokens, completion_tokens }: ChatResult): ChatUsage => ({
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
  const chunk = (delta: ChatDelta, finish_reason: ChatResult["finish_reason"] | null = null): ChatChunk => ({
    ...common,
    choices: [{ index: 0, delta, finish_reason }],
  });
  yield chunk({ role: "assistant", content: "" });
  let step = first;
  for (; !step.done; step = await texts.next()) yield chunk({ content: step.value });
  yield chunk({}, step.value.finish_reason);
  if (includeUsage) yield { ...common, choices: [], usage: usageOf(step.value) };
}
