import type { ChatMessage, ChatToolCall, CountTokensRequest, MessagesRequest } from "@imprint/contracts";
import { textOf } from "../../chat/content.js";
import { assistant, type Conversation, conversationOf, result, system, user } from "../../chat/conversation.js";
import { fieldRefused } from "../../common/problem.js";

type Message = MessagesRequest["messages"][number];
type Block = Exclude<Message["content"], string>[number];

const THOUGHTS: ReadonlySet<string> = new Set(["thinking", "redacted_thinking"]);

const required = (value: string | undefined, path: string): string => {
  if (value === undefined) throw fieldRefused(path, "is required");
  return value;
};

/** Blocks of one type with their places; the others. */
const split = (blocks: readonly Block[], type: string, path: string) => {
  const placed = blocks.map((block, at) => ({ block, path: `${path}.${at}` }));
  return {
    these: placed.filter(({ block }) => block.type === type),
    others: placed.filter(({ block }) => block.type !== type && !THOUGHTS.has(block.type)),
  };
};

/** The text of blocks, each refused by its own place. */
const wordsOf = (blocks: readonly { readonly block: Block; readonly path: string }[]): string =>
  blocks.map(({ block, path }) => textOf([block], path.slice(0, path.lastIndexOf(".")))).join("\n");

const fromAssistant = (blocks: readonly Block[], path: string): readonly ChatMessage[] => {
  const { these, others } = split(blocks, "tool_use", path);
  const calls = these.map(
    ({ block: { id, name, input }, path: place }): ChatToolCall => ({
      id: required(id, `${place}.id`),
      name: required(name, `${place}.name`),
      arguments: JSON.stringify(input ?? {}),
    }),
  );
  return [assistant(wordsOf(others), calls)];
};

const fromUser = (blocks: readonly Block[], path: string): readonly ChatMessage[] => {
  const { these, others } = split(blocks, "tool_result", path);
  const results = these.map(({ block: { tool_use_id, content }, path: place }) =>
    result(required(tool_use_id, `${place}.tool_use_id`), textOf(content, `${place}.content`)),
  );
  return others.length === 0 ? results : [...results, user(wordsOf(others))];
};

const toMessages = ({ role, content }: Message, at: number): readonly ChatMessage[] => {
  const path = `messages.${at}.content`;
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  if (role === "assistant") return fromAssistant(blocks, path);
  return role === "user" ? fromUser(blocks, path) : [system(textOf(blocks, path))];
};

const choiceOf = (choice: MessagesRequest["tool_choice"]): "auto" | "none" | "required" | { readonly name: string } => {
  if (choice == null) return "auto";
  if ("name" in choice) return { name: choice.name };
  return choice.type === "any" ? "required" : choice.type;
};

/** What a request of `/v1/messages`, or of its token count, asks. Throws ProblemError. */
export const messagesConversation = (request: MessagesRequest | CountTokensRequest): Conversation => {
  const { messages, system: systemText, tools, tool_choice, output_config } = request;
  const limits = "max_tokens" in request ? { ...request, stop: request.stop_sequences } : {};
  return conversationOf({
    ...limits,
    messages: [...(systemText == null ? [] : [system(textOf(systemText, "system"))]), ...messages.flatMap(toMessages)],
    tools: (tools ?? []).map(({ name, description, input_schema }) => ({
      name,
      description: description ?? null,
      parameters: input_schema,
    })),
    tool_choice: choiceOf(tool_choice),
    parallel_tool_calls: tool_choice?.type !== "none" && tool_choice?.disable_parallel_tool_use !== true,
    json_schema: output_config?.format?.schema,
  });
};
