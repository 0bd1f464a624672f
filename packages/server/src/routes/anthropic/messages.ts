import { randomUUID } from "node:crypto";
import {
  type ChatMessage,
  type ChatToolCall,
  CountTokensRequest,
  MessageEvent,
  MessageObject,
  MessagesRequest,
  TokenCount,
} from "@imprint/contracts";
import { wholeAnswer } from "../../chat/answer.js";
import { assistant, type Conversation, conversationOf, result, system, textOf, user } from "../../chat/conversation.js";
import { fieldRefused } from "../../common/problem.js";
import type { App } from "../../http/app.js";
import { answer } from "../../http/schemas.js";
import { CHAT_ROUTE, type ChatDeps, sendStream } from "../answer-stream.js";
import { messageObject, messagesEncoder } from "./messages-answer.js";

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
const conversationIn = (request: MessagesRequest | CountTokensRequest): Conversation => {
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

/** `POST /v1/messages`, and its token count. */
export const anthropicRoutes = (app: App, { chat }: ChatDeps): void => {
  app.post(
    "/v1/messages",
    {
      ...CHAT_ROUTE,
      schema: {
        tags: ["chat"],
        summary: "The same, as Anthropic's Messages",
        body: MessagesRequest,
        response: {
          200: {
            description: "The message; with stream, its events as server-sent events",
            content: { "application/json": { schema: MessageObject }, "text/event-stream": { schema: MessageEvent } },
          },
        },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const asked = { model: body.model, conversation: conversationIn(body), stream: body.stream ?? false };
      const events = await chat.ask(asked, request);
      const head = { id: `msg_${randomUUID().replaceAll("-", "")}`, model: body.model };
      if (!asked.stream) return messageObject(await wholeAnswer(events), head);
      return sendStream(events, messagesEncoder(head), { request, reply });
    },
  );

  app.post(
    "/v1/messages/count_tokens",
    {
      ...CHAT_ROUTE,
      schema: {
        tags: ["chat"],
        summary: "Tokens of a message's prompt",
        body: CountTokensRequest,
        response: { 200: answer("The count", TokenCount) },
      },
    },
    async (request) => {
      const { body } = request;
      return { input_tokens: await chat.count({ model: body.model, conversation: conversationIn(body) }, request) };
    },
  );
};
