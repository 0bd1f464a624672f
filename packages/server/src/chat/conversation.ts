import type { ChatMessage, ChatSpec, ChatTool, ChatToolCall, ToolChoice } from "@imprint/contracts";
import { fieldRefused } from "../common/error.js";

/** What every API adapter makes of its request: all that an engine is asked, but for the model and how the answer is told. */
export interface Conversation extends Omit<ChatSpec, "base_model" | "adapter_path" | "stream"> {
  /** Names of the tools whose calls must keep to their schema. */
  readonly strict_tools: readonly string[];
}

const messageOf = (role: ChatMessage["role"], content: string): ChatMessage => ({
  role,
  content,
  tool_calls: [],
  tool_call_id: null,
});

/** Messages, by who says them. */
export const by = {
  system: (content: string): ChatMessage => messageOf("system", content),
  user: (content: string): ChatMessage => messageOf("user", content),
  assistant: (content: string, calls: readonly ChatToolCall[] = []): ChatMessage => ({
    ...messageOf("assistant", content),
    tool_calls: [...calls],
  }),
  result: (tool_call_id: string, content: string): ChatMessage => ({ ...messageOf("tool", content), tool_call_id }),
};

export const required = (value: string | undefined, path: string): string => {
  if (value === undefined) throw fieldRefused(path, "is required");
  return value;
};

/** A part of a message's content; what it holds depends on its type. */
interface ContentPart {
  readonly type: string;
  readonly text?: string;
}

export type Content = string | readonly ContentPart[] | null | undefined;

const TEXTS: ReadonlySet<string> = new Set(["text", "input_text", "output_text", "refusal"]);
/** What a model that reads text alone is shown of other parts: the words that imports write. */
const SHOWN: ReadonlyMap<string, string> = new Map([
  ...["image", "image_url", "input_image"].map((type) => [type, "[image]"] as const),
  ["document", "[document]"],
  ...["file", "input_file"].map((type) => [type, "[file]"] as const),
  ...["input_audio", "audio"].map((type) => [type, "[audio]"] as const),
]);

/** Names of what is left out of a request, since nothing here reads it: an answer names them in a header. */
export type LeftOut = Set<string>;

const partText = (part: ContentPart, path: string, leftOut: LeftOut): readonly string[] => {
  const shown = SHOWN.get(part.type);
  if (shown !== undefined) return [shown];
  const { refusal, tool_name } = part as { readonly refusal?: unknown; readonly tool_name?: unknown };
  // A tool that a search found: its definition stands among the tools.
  if (part.type === "tool_reference" && typeof tool_name === "string") return [`[tool ${tool_name}]`];
  if (!TEXTS.has(part.type)) {
    leftOut.add(`part ${part.type}`);
    return [];
  }
  const text = part.type === "refusal" ? refusal : part.text;
  return [required(typeof text === "string" ? text : undefined, `${path}.text`)];
};

/** The text of a content, its parts joined by line breaks. Throws ProblemError. */
export const textOf = (content: Content, path: string, leftOut: LeftOut): string =>
  typeof content === "string"
    ? content
    : (content ?? []).flatMap((part, at) => partText(part, `${path}.${at}`, leftOut)).join("\n");

/** Refuses what asks by an image or a file alone: nothing of the question would be read. */
export const refuseUnread = (content: Content, path: string): void => {
  const parts = typeof content === "string" ? [] : (content ?? []);
  const at = parts.findIndex(({ type }) => SHOWN.has(type));
  if (at >= 0 && parts.every(({ type, text }) => SHOWN.has(type) || text?.trim() === ""))
    throw fieldRefused(`${path}.${at}`, "is all that is asked, and the models here read text only: say something beside it");
};

const joined = (one: string, other: string): string => [one, other].filter((text) => text !== "").join("\n\n");

/**
 * Leading system texts as one, for templates that know one; what an assistant says in one go, which some APIs send in pieces, as
 * one turn.
 */
const mergedMessages = (messages: readonly ChatMessage[]): ChatMessage[] => {
  const merged: ChatMessage[] = [];
  for (const next of messages) {
    const last = merged.at(-1);
    const goesOn = next.role === "assistant" || (next.role === "system" && merged.length === 1);
    if (last && goesOn && last.role === next.role)
      merged[merged.length - 1] = {
        ...last,
        content: joined(last.content, next.content),
        tool_calls: [...last.tool_calls, ...next.tool_calls],
      };
    else merged.push(next);
  }
  return merged;
};

/** How Claude Code begins its system prompt: by a line that differs from request to request. */
const BILLING = /^x-anthropic-billing-header:[^\n]*(?:\n|$)/;

const withoutBilling = (message: ChatMessage): readonly ChatMessage[] => {
  if (message.role !== "system" || !BILLING.test(message.content)) return [message];
  const content = message.content.replace(BILLING, "");
  return content === "" ? [] : [{ ...message, content }];
};

/** A result has to follow its call: templates put it there, and some look its call up. */
const checkResults = (messages: readonly ChatMessage[]): void => {
  const called = new Set<string>();
  for (const { tool_calls, tool_call_id } of messages) {
    for (const { id } of tool_calls) called.add(id);
    if (tool_call_id !== null && !called.has(tool_call_id))
      throw fieldRefused(
        "messages",
        `hold a result of the call ${JSON.stringify(tool_call_id)}, which no message before it makes`,
      );
  }
};

interface Asked {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  readonly tool_choice: ToolChoice | "none";
  readonly parallel_tool_calls?: boolean | null | undefined;
  readonly strict_tools?: readonly string[];
  readonly json_schema?: unknown;
  readonly max_tokens?: number | null | undefined;
  readonly temperature?: number | null | undefined;
  readonly top_p?: number | null | undefined;
  readonly top_k?: number | null | undefined;
  readonly min_p?: number | null | undefined;
  readonly repetition_penalty?: number | null | undefined;
  readonly repeat_penalty?: number | null | undefined;
  readonly chat_template_kwargs?: Readonly<Record<string, unknown>> | null | undefined;
  readonly stop?: string | readonly string[] | null | undefined;
  readonly seed?: number | null | undefined;
}

/** Fields that ask for another answer than any engine here gives. Throws ProblemError. */
const refuseUnmet = (asked: Pick<Asked, "repetition_penalty" | "repeat_penalty" | "chat_template_kwargs">): void => {
  for (const field of ["repetition_penalty", "repeat_penalty"] as const)
    if ((asked[field] ?? 1) !== 1) throw fieldRefused(field, "is not applied here: leave it out, or send 1");
  for (const [name, value] of Object.entries(asked.chat_template_kwargs ?? {})) {
    const isMet = name === "enable_thinking" ? typeof (value ?? false) === "boolean" : (value ?? false) === false;
    if (!isMet)
      throw fieldRefused(
        `chat_template_kwargs.${name}`,
        name === "enable_thinking" ? "must be true or false" : "does not reach the template: leave it out, or send false",
      );
  }
};

/** Every value decided. Throws ProblemError for fields that contradict each other. */
export const conversationOf = ({ messages, tools, tool_choice, stop, ...rest }: Asked): Conversation => {
  checkResults(messages);
  refuseUnmet(rest);
  const { enable_thinking } = rest.chat_template_kwargs ?? {};
  if (tool_choice !== "auto" && tool_choice !== "none" && tools.length === 0)
    throw fieldRefused("tool_choice", "asks for a call, and there are no tools");
  if (typeof tool_choice === "object" && !tools.some(({ name }) => name === tool_choice.name))
    throw fieldRefused("tool_choice", `names ${JSON.stringify(tool_choice.name)}, which is none of the tools`);
  return {
    messages: mergedMessages(messages.flatMap(withoutBilling)),
    tools: tool_choice === "none" ? [] : [...tools],
    tool_choice: tool_choice === "none" ? "auto" : tool_choice,
    parallel_tool_calls: rest.parallel_tool_calls ?? true,
    strict_tools: tool_choice === "none" ? [] : (rest.strict_tools ?? []),
    json_schema: rest.json_schema ?? null,
    max_tokens: rest.max_tokens ?? null,
    temperature: rest.temperature ?? 0,
    top_p: rest.top_p ?? 1,
    top_k: Math.max(0, rest.top_k ?? 0),
    min_p: rest.min_p ?? 0,
    enable_thinking: typeof enable_thinking === "boolean" ? enable_thinking : null,
    stop: typeof stop === "string" ? [stop] : [...(stop ?? [])],
    seed: rest.seed ?? 0,
  };
};
