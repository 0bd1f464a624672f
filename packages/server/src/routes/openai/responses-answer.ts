import { randomUUID } from "node:crypto";
import { isObject, type ResponseItem, type ResponseObject, type ResponsesRequest } from "@imprint/contracts";
import type { Answer, AnswerEnd, AnswerEvent, AnswerPart } from "../../chat/answer.js";
import type { Conversation } from "../../chat/conversation.js";
import { frame } from "../../events/feed.js";
import type { StreamEncoder } from "../answer-stream.js";

/** A tool as its client calls it. */
export interface ToolName {
  readonly type: "function" | "custom";
  readonly name: string;
  readonly namespace?: string;
}

/** Of a custom tool, which takes one text as it is: models know functions alone. */
export const CUSTOM_PARAMETERS = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
  additionalProperties: false,
};
export const customArguments = (input: string): string => JSON.stringify({ input });

/** The text for a custom tool: a model may also write it bare, as trainings on recorded calls show it. */
const customInput = (args: string): string => {
  try {
    const value: unknown = JSON.parse(args);
    return isObject(value) && typeof value.input === "string" ? value.input : args;
  } catch {
    return args;
  }
};

/** What an answer is told with: the response as it begins, and the client's names of the tools. */
export interface ResponsesHead {
  readonly response: ResponseObject;
  readonly toolNames: ReadonlyMap<string, ToolName>;
}

/** The response before anything was said. */
export const begunResponse = (
  request: ResponsesRequest,
  { conversation, created_at }: { readonly conversation: Conversation; readonly created_at: number },
): ResponseObject => ({
  id: `resp_${hex()}`,
  object: "response",
  created_at,
  status: "in_progress",
  error: null,
  incomplete_details: null,
  model: request.model,
  output: [],
  usage: null,
  instructions: request.instructions ?? null,
  max_output_tokens: conversation.max_tokens,
  metadata: request.metadata ?? {},
  parallel_tool_calls: conversation.parallel_tool_calls,
  previous_response_id: null,
  store: false,
  temperature: conversation.temperature,
  text: { format: request.text?.format ?? { type: "text" } },
  tool_choice: request.tool_choice ?? "auto",
  tools: request.tools ?? [],
  top_p: conversation.top_p,
  truncation: "disabled",
});

const hex = (): string => randomUUID().replaceAll("-", "");

const textPart = (text: string) => ({ type: "output_text" as const, text, annotations: [], logprobs: [] });

type ItemStatus = "in_progress" | "completed" | "incomplete";

/** A part of an answer as an item of the output; in progress before anything of it was told. */
const itemOf = (part: AnswerPart, id: string, { toolNames }: ResponsesHead, status: ItemStatus = "completed"): ResponseItem => {
  if (part.type === "text") {
    const content = status === "in_progress" ? [] : [textPart(part.text)];
    return { id, type: "message", status, role: "assistant", content };
  }
  const { type, ...name } = toolNames.get(part.name) ?? { type: "function", name: part.name };
  const call = { id, status, call_id: part.id, ...name };
  return type === "custom"
    ? { ...call, type: "custom_tool_call", input: customInput(part.arguments) }
    : { ...call, type: "function_call", arguments: part.arguments };
};

/** Of the last item of an answer: the room for it cuts text off, and calls are told whole or not at all. */
const lastStatus = (part: AnswerPart, reason: AnswerEnd["reason"]): ItemStatus =>
  part.type === "text" && reason === "length" ? "incomplete" : "completed";

const idOf = (part: AnswerPart): string => (part.type === "text" ? `msg_${hex()}` : `fc_${hex()}`);

const ended = (
  { response }: ResponsesHead,
  output: ResponseItem[],
  { reason, prompt_tokens, completion_tokens }: AnswerEnd,
): ResponseObject => ({
  ...response,
  status: reason === "length" ? "incomplete" : "completed",
  incomplete_details: reason === "length" ? { reason: "max_output_tokens" } : null,
  output,
  usage: {
    input_tokens: prompt_tokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: prompt_tokens + completion_tokens,
  },
});

export const responseOf = (answer: Answer, head: ResponsesHead): ResponseObject =>
  ended(
    head,
    answer.parts.map((part, at) =>
      itemOf(part, idOf(part), head, at === answer.parts.length - 1 ? lastStatus(part, answer.reason) : "completed"),
    ),
    answer,
  );

/** OpenAI's named events. While there is nothing to say `response.in_progress` comes again: its clients count events alone. */
export const responsesEncoder = (head: ResponsesHead): StreamEncoder => {
  const { response } = head;
  const output: ResponseItem[] = [];
  let text: { readonly id: string; readonly written: string } | null = null; // a message that is being told
  let sequence_number = 0;
  let begun = false;

  const event = (type: string, fields: object): string => frame({ type, sequence_number: sequence_number++, ...fields }, type);
  const begin = (part: AnswerPart, id: string): string =>
    event("response.output_item.added", { output_index: output.length, item: itemOf(part, id, head, "in_progress") });
  const done = (item: ResponseItem): string => {
    const last = event("response.output_item.done", { output_index: output.length, item });
    output.push(item);
    return last;
  };

  const addText = (delta: string): string => {
    const content = { output_index: output.length, content_index: 0 };
    let start = "";
    if (text === null) {
      const part: AnswerPart = { type: "text", text: "" };
      text = { id: idOf(part), written: "" };
      start = begin(part, text.id) + event("response.content_part.added", { item_id: text.id, ...content, part: textPart("") });
    }
    text = { ...text, written: text.written + delta };
    return start + event("response.output_text.delta", { item_id: text.id, ...content, delta, logprobs: [] });
  };

  /** `reason`: why the whole answer ends with it. */
  const endText = (reason: AnswerEnd["reason"] = "stop"): string => {
    if (text === null) return "";
    const { id, written } = text;
    text = null;
    const part: AnswerPart = { type: "text", text: written };
    const at = { item_id: id, output_index: output.length, content_index: 0 };
    return (
      event("response.output_text.done", { ...at, text: written, logprobs: [] }) +
      event("response.content_part.done", { ...at, part: textPart(written) }) +
      done(itemOf(part, id, head, lastStatus(part, reason)))
    );
  };

  const call = (part: Extract<AnswerPart, { type: "call" }>): string => {
    const item_id = idOf(part);
    const item = itemOf(part, item_id, head);
    const before = endText() + begin({ ...part, arguments: "" }, item_id);
    const at = { item_id, output_index: output.length };
    if (item.type === "custom_tool_call")
      return (
        before +
        event("response.custom_tool_call_input.delta", { ...at, delta: item.input }) +
        event("response.custom_tool_call_input.done", { ...at, input: item.input }) +
        done(item)
      );
    const name = head.toolNames.get(part.name)?.name ?? part.name;
    return (
      before +
      event("response.function_call_arguments.delta", { ...at, delta: part.arguments }) +
      event("response.function_call_arguments.done", { ...at, name, arguments: part.arguments }) +
      done(item)
    );
  };

  const written = (told: AnswerEvent): string => {
    if (told.type === "text") return addText(told.text);
    if (told.type === "call") return call(told);
    if (told.type !== "end") return "";
    const last = endText(told.end.reason);
    const whole = ended(head, output, told.end);
    return last + event(`response.${whole.status}`, { response: whole });
  };

  return {
    encode: (told) => {
      let life = begun ? "" : event("response.created", { response });
      if (!begun || told.type === "idle") life += event("response.in_progress", { response });
      begun = true;
      return life + written(told);
    },
    fail: (body) => {
      const { code, message } = (body as { readonly error: { readonly code: string; readonly message: string } }).error;
      return event("response.failed", { response: { ...response, status: "failed", output, error: { code, message } } });
    },
  };
};
