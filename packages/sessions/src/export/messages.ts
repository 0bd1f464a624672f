import type { Session, Step, ToolCall } from "@imprint/contracts";
import { trainableSteps } from "../summarize.js";

/** A message in OpenAI's shape; every field stands in every message, so that columns have one type in all rows. */
interface Message {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly reasoning_content: string | null;
  readonly tool_calls: readonly {
    readonly id: string;
    readonly type: "function";
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id: string | null;
  /** Of an assistant's: 1 where a training learns from it, 0 where it is context (OpenAI's fine-tuning format). Else null. */
  readonly weight: 0 | 1 | null;
}

/** A session as a row of a chat data set. */
export interface MessagesRow {
  readonly session_id: string;
  readonly agent: string | null;
  readonly model: string | null;
  readonly format: string;
  readonly outcome: string;
  readonly started_at: string | null;
  /** JSON text of a list of `{type: "function", function}`: schemas differ from row to row, and a column has one type. */
  readonly tools: string;
  readonly messages: readonly Message[];
}

const NOTHING = { reasoning_content: null, tool_calls: [], tool_call_id: null, weight: null } as const;

const calls = (made: readonly ToolCall[]): Message["tool_calls"] =>
  made.map(({ id, name, arguments: text }) => ({ id, type: "function", function: { name, arguments: text } }));

function messagesOf(step: Step, learned: ReadonlySet<Step>): readonly Message[] {
  const { source, text, reasoning = null, tool_calls = [], observations = [] } = step;
  if (source !== "agent") return [{ ...NOTHING, role: source, content: text }];
  const called = new Set(tool_calls.map(({ id }) => id));
  const results = observations.map(({ call_id, content }): Message => {
    // What the environment says without being called is the user's, as trainings render it.
    const answers = call_id !== null && called.has(call_id);
    return { ...NOTHING, role: answers ? "tool" : "user", content, tool_call_id: answers ? call_id : null };
  });
  const answer: Message = {
    ...NOTHING,
    role: "assistant",
    content: text,
    reasoning_content: reasoning,
    tool_calls: calls(tool_calls),
    weight: learned.has(step) ? 1 : 0,
  };
  return [answer, ...results];
}

/** A session as messages and tools, the shape that trainers of chat models read. */
export function toMessages({ session_id, source, outcome, started_at, tools, steps }: Session): MessagesRow {
  const learned = trainableSteps(steps);
  return {
    session_id,
    agent: source.agent,
    model: source.model,
    format: source.format,
    outcome,
    started_at,
    tools: JSON.stringify(tools.map((tool) => ({ type: "function", function: tool }))),
    messages: steps.flatMap((step) => messagesOf(step, learned)),
  };
}
