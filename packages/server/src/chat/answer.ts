import { randomUUID } from "node:crypto";
import type { ChatResult, ChatSpec, ChatToolCall } from "@imprint/contracts";
import type { Clock } from "../common/clock.js";
import { defer } from "../common/promises.js";
import type { ChatEvent } from "../runners/runner.js";
import { type ToolCallEvent, toolCallParser } from "./tool-calls/parser.js";

/** Until a stream begins while its first token takes time: what is refused before has a status of its own. */
export const HEAD_MS = 5_000;
/** Between two signs of life of a stream that has nothing to say. */
export const SIGN_MS = 10_000;

export interface AnswerEnd extends Pick<ChatResult, "prompt_tokens" | "completion_tokens" | "stop_text"> {
  readonly reason: "stop" | "length" | "calls";
}

export type AnswerPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly arguments: string };

/** An answer as every API tells it. `begin` comes first, or `idle` does; text comes in pieces, and a call whole. */
export type AnswerEvent =
  | { readonly type: "begin"; readonly prompt_tokens: number }
  | { readonly type: "idle" }
  | AnswerPart
  | { readonly type: "end"; readonly end: AnswerEnd };

const endOf = ({ finish_reason, ...counts }: ChatResult, calls: number): AnswerEnd => ({
  prompt_tokens: counts.prompt_tokens,
  completion_tokens: counts.completion_tokens,
  stop_text: counts.stop_text,
  reason: finish_reason === "stop" && calls > 0 ? "calls" : finish_reason,
});

/** Makes an answer's events of an engine's: reads the calls out of its text. */
const createReader = (spec: ChatSpec, tell: (event: AnswerEvent) => void) => {
  let parser = toolCallParser(null);
  let calls = 0;
  let read = 0; // characters

  const tellAll = (events: readonly ToolCallEvent[]): void => {
    for (const event of events) {
      if (event.type === "call") calls += 1;
      // After the one call that was asked for nothing is told.
      if (!spec.parallel_tool_calls && (calls > 1 || (calls === 1 && event.type === "text"))) continue;
      tell(event.type === "call" ? { ...event, id: `call_${randomUUID().replaceAll("-", "")}` } : event);
    }
  };

  return {
    add(event: ChatEvent): void {
      if (event.type === "prompt") {
        parser = toolCallParser(event.prompt.tool_format, spec.tools);
        tell({ type: "begin", prompt_tokens: event.prompt.prompt_tokens });
      } else if (event.type === "token") {
        read += event.text.length;
        tellAll(parser.push(event.text));
      } else tellAll([event]);
    },
    end(result: ChatResult): void {
      // Of an answer that was not streamed all the text is left.
      tellAll(parser.push(result.text.slice(read)));
      tellAll(parser.end());
      tell({ type: "end", end: endOf(result, calls) });
    },
  };
};

interface AnswerOptions {
  readonly clock: Pick<Clock, "after">;
  /** Hears every event once it is read. */
  readonly onEvent?: ((event: AnswerEvent) => void) | null;
}

/**
 * The answer to a chat as it comes, with `idle` where nothing is told for a while. A reader that is slow gets longer pieces of text
 * and never holds the engine up: what waits here is at most the whole answer. Throws what the engine's call rejects with, once what
 * was told before was read.
 */
export async function* answerTo(
  spec: ChatSpec,
  call: (onEvent: (event: ChatEvent) => void) => Promise<ChatResult>,
  { clock, onEvent }: AnswerOptions,
): AsyncGenerator<AnswerEvent, void> {
  let waiting: AnswerEvent[] = [];
  let isOver = false;
  let wake = defer<void>();
  const tell = (event: AnswerEvent): void => {
    const last = waiting.at(-1);
    if (event.type === "text" && last?.type === "text") waiting[waiting.length - 1] = { ...last, text: last.text + event.text };
    else waiting.push(event);
    wake.resolve();
  };
  const reader = createReader(spec, tell);
  const answered = call(reader.add)
    .then(reader.end)
    .finally(() => {
      isOver = true;
      wake.resolve();
    });
  answered.catch(() => {}); // thrown below
  for (let silenceMs = HEAD_MS; ; silenceMs = SIGN_MS) {
    if (waiting.length === 0 && !isOver) {
      wake = defer();
      const disarm = clock.after(silenceMs, () => tell({ type: "idle" }));
      await wake.promise;
      disarm();
    }
    if (waiting.length === 0) return await answered;
    const told = waiting;
    waiting = [];
    for (const event of told) {
      onEvent?.(event);
      yield event;
    }
  }
}

export interface Answer extends AnswerEnd {
  readonly parts: readonly AnswerPart[];
}

/** Adds what an event tells: texts and calls stand in the order in which they were told. */
export const addTo = (parts: AnswerPart[], event: AnswerEvent): void => {
  const last = parts.at(-1);
  if (event.type === "text" && last?.type === "text") parts[parts.length - 1] = { ...last, text: last.text + event.text };
  else if (event.type === "text" || event.type === "call") parts.push(event);
};

export const textIn = (parts: readonly AnswerPart[]): string =>
  parts.map((part) => (part.type === "text" ? part.text : "")).join("");

export const callsIn = (parts: readonly AnswerPart[]): readonly ChatToolCall[] =>
  parts.flatMap((part) => (part.type === "call" ? [{ id: part.id, name: part.name, arguments: part.arguments }] : []));

/** The whole of an answer. */
export const wholeAnswer = async (events: AsyncIterable<AnswerEvent>): Promise<Answer> => {
  const parts: AnswerPart[] = [];
  for await (const event of events) {
    if (event.type === "end") return { ...event.end, parts };
    addTo(parts, event);
  }
  throw new Error("an answer ended without its end");
};
