import { randomUUID } from "node:crypto";
import type { ChatPrompt, ChatResult, ChatSpec } from "@imprint/contracts";
import type { Clock } from "../common/clock.js";
import type { ChatEvent } from "../runners/runner.js";
import { engineEvents } from "./engine-events.js";
import { TOOL_CALL_FORMATS, type ToolCallFormat } from "./tool-calls/formats.js";
import { type ToolCallEvent, type ToolCallParser, toolCallParser } from "./tool-calls/parser.js";

/** Until a stream begins while its first token takes time: what is refused before has a status of its own. */
export const HEAD_MS = 5_000;
/** Between two signs of life of a stream that has nothing to say. */
export const SIGN_MS = 10_000;

export interface AnswerEnd extends Pick<ChatResult, "prompt_tokens" | "completion_tokens" | "stop_text"> {
  readonly reason: "stop" | "length" | "calls";
}

/** An answer as faces tell it. `begin` comes first, or `idle` does; a call's id is the same in every event and in the whole. */
export type AnswerEvent =
  | { readonly type: "begin"; readonly prompt_tokens: number }
  | { readonly type: "idle" }
  | Exclude<ToolCallEvent, { type: "call-start" }>
  | (Extract<ToolCallEvent, { type: "call-start" }> & { readonly id: string })
  | { readonly type: "end"; readonly end: AnswerEnd };

/** As the engine names it; of a family that is not known here, the format that all families understand. */
const formatOf = (name: string): ToolCallFormat => TOOL_CALL_FORMATS.find((format) => format === name) ?? "generic";

const plainText = (): ToolCallParser => ({
  push: (text) => (text === "" ? [] : [{ type: "text", text }]),
  end: () => [],
});

const parserFor = ({ tool_format }: ChatPrompt, { tools }: ChatSpec): ToolCallParser =>
  tool_format === null ? plainText() : toolCallParser(formatOf(tool_format), tools);

const endOf = ({ finish_reason, ...counts }: ChatResult, calls: number): AnswerEnd => ({
  prompt_tokens: counts.prompt_tokens,
  completion_tokens: counts.completion_tokens,
  stop_text: counts.stop_text,
  reason: finish_reason === "stop" && calls > 0 ? "calls" : finish_reason,
});

/** The answer to a chat, calls read out of its text as it comes. Throws what the engine's call rejects with. */
export async function* answerTo(
  spec: ChatSpec,
  call: (onEvent: (event: ChatEvent) => void) => Promise<ChatResult>,
  { clock }: { readonly clock: Clock },
): AsyncGenerator<AnswerEvent, void> {
  let spoke: number | null = null;
  const events = engineEvents(call, { clock, idleMs: () => (spoke === null ? HEAD_MS : SIGN_MS) });
  let parser = plainText();
  let [calls, read] = [0, 0];
  const shown = function* (parsed: readonly ToolCallEvent[]): Generator<AnswerEvent> {
    for (const event of parsed) {
      if (event.type === "call-start") calls += 1;
      // After the one call that was asked for nothing is told.
      if (!spec.parallel_tool_calls && (calls > 1 || (calls === 1 && event.type === "text"))) continue;
      spoke = clock.now();
      yield event.type === "call-start" ? { ...event, id: `call_${randomUUID().replaceAll("-", "")}` } : event;
    }
    // What a parser holds back, a long call for one, is silence too.
    if (spoke === null || clock.now() - spoke < SIGN_MS) return;
    spoke = clock.now();
    yield { type: "idle" };
  };
  for (;;) {
    const step = await events.next();
    if (step.done) {
      // Of an answer that was not streamed all the text is left.
      yield* shown(parser.push(step.value.text.slice(read)));
      yield* shown(parser.end());
      return yield { type: "end", end: endOf(step.value, calls) };
    }
    const { value } = step;
    if (value.type === "token") {
      read += value.text.length;
      yield* shown(parser.push(value.text));
      continue;
    }
    if (value.type === "call") {
      const call = { index: calls, name: value.name, delta: value.arguments };
      yield* shown([
        { ...call, type: "call-start" },
        { ...call, type: "call-arguments" },
        { ...call, type: "call-end" },
      ]);
      continue;
    }
    spoke = clock.now();
    if (value.type === "prompt") parser = parserFor(value.prompt, spec);
    yield value.type === "prompt" ? { type: "begin", prompt_tokens: value.prompt.prompt_tokens } : value;
  }
}

export type AnswerPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly arguments: string };

export interface Answer extends AnswerEnd {
  readonly parts: readonly AnswerPart[];
}

/** Adds what an event tells: texts and calls stand in the order in which they were told. */
export const addTo = (parts: AnswerPart[], event: AnswerEvent): void => {
  const last = parts.at(-1);
  if (event.type === "text" && last?.type === "text") parts[parts.length - 1] = { ...last, text: last.text + event.text };
  else if (event.type === "text") parts.push(event);
  else if (event.type === "call-start") parts.push({ type: "call", id: event.id, name: event.name, arguments: "" });
  else if (event.type === "call-arguments" && last?.type === "call")
    parts[parts.length - 1] = { ...last, arguments: last.arguments + event.delta };
};

/** The whole of an answer. */
export const wholeAnswer = async (events: AsyncIterable<AnswerEvent>): Promise<Answer> => {
  const parts: AnswerPart[] = [];
  for await (const event of events) {
    if (event.type === "end") return { ...event.end, parts };
    addTo(parts, event);
  }
  throw new Error("an answer ended without its end");
};
