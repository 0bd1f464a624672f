import type { ChatChunk, ChatCompletion, ChatDelta, ChatUsage } from "@imprint/contracts";
import { type Answer, type AnswerEnd, type AnswerEvent, type AnswerPart, callsIn, textIn } from "../../chat/answer.js";
import { frame } from "../../events/feed.js";
import type { StreamEncoder } from "../answer-stream.js";

/** What the objects of one answer have in common. */
export type Head = Pick<ChatCompletion, "id" | "created" | "model">;

const FINISH = { stop: "stop", length: "length", calls: "tool_calls" } as const;

const usageOf = ({ prompt_tokens, completion_tokens }: AnswerEnd): ChatUsage => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
});

const messageOf = (parts: readonly AnswerPart[]): ChatCompletion["choices"][number]["message"] => {
  const text = textIn(parts);
  const tool_calls = callsIn(parts).map(({ id, ...call }) => ({ id, type: "function" as const, function: call }));
  if (tool_calls.length === 0) return { role: "assistant", content: text };
  return { role: "assistant", content: text === "" ? null : text, tool_calls };
};

export const completionOf = (answer: Answer, head: Head): ChatCompletion => ({
  ...head,
  object: "chat.completion",
  choices: [{ index: 0, message: messageOf(answer.parts), finish_reason: FINISH[answer.reason] }],
  usage: usageOf(answer),
});

/** Chunks, then `[DONE]`. While there is nothing to say come comments; a failure in the middle is an error object instead. */
export const chunkEncoder = ({ head, includeUsage }: { readonly head: Head; readonly includeUsage: boolean }): StreamEncoder => {
  const common = { ...head, object: "chat.completion.chunk", ...(includeUsage && { usage: null }) } as const;
  const chunk = (delta: ChatDelta, finish_reason: ChatChunk["choices"][number]["finish_reason"] = null): string =>
    frame({ ...common, choices: [{ index: 0, delta, finish_reason }] } satisfies ChatChunk);
  let calls = 0;
  const written = (event: AnswerEvent): string => {
    if (event.type === "idle") return ": keep-alive\n\n";
    if (event.type === "text") return chunk({ content: event.text });
    if (event.type === "call") {
      const { id, name, arguments: args } = event;
      const index = calls++;
      const start = chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
      return start + chunk({ tool_calls: [{ index, function: { arguments: args } }] });
    }
    if (event.type !== "end") return "";
    const usage = includeUsage ? frame({ ...common, choices: [], usage: usageOf(event.end) } satisfies ChatChunk) : "";
    return chunk({}, FINISH[event.end.reason]) + usage + frame("[DONE]");
  };
  let begun = false;
  return {
    encode: (event) => {
      const first = begun ? "" : chunk({ role: "assistant", content: "" });
      begun = true;
      return first + written(event);
    },
    fail: frame,
  };
};
