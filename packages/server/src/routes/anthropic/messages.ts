import { randomUUID } from "node:crypto";
import {
  type ChatMessage,
  type ChatToolCall,
  CountTokensRequest,
  MESSAGE_BLOCKS,
  MessageEvent,
  MessageObject,
  MessagesRequest,
  TokenCount,
} from "@imprint/contracts";
import { by, type Conversation, conversationOf, type LeftOut, refuseUnread, required, textOf } from "../../chat/conversation.js";
import type { App } from "../../http/app.js";
import { answer } from "../../http/schemas.js";
import { addChatCall, CHAT_ROUTE, type ChatDeps, nameLeftOut } from "../answer-stream.js";
import { messageObject, messagesEncoder } from "./messages-answer.js";

type Message = MessagesRequest["messages"][number];
type Block = Exclude<Exclude<Message["content"], string>[number], { readonly type: "other" }>;
interface Placed {
  readonly block: Block;
  readonly path: string;
}

const READ: ReadonlySet<string> = new Set(MESSAGE_BLOCKS);
const THOUGHTS: ReadonlySet<string> = new Set(["thinking", "redacted_thinking"]);

/** The blocks that are read, each with its place; those of `type` apart from the others. */
const split = (content: Message["content"], type: string, { path, leftOut }: { path: string; leftOut: LeftOut }) => {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const placed = blocks.map((block, at) => ({ block, path: `${path}.${at}` }));
  for (const { block } of placed) if (!READ.has(block.type)) leftOut.add(`block ${block.type}`);
  const read = placed.filter((one): one is Placed => READ.has(one.block.type) && !THOUGHTS.has(one.block.type));
  return { these: read.filter(({ block }) => block.type === type), others: read.filter(({ block }) => block.type !== type) };
};

/** The text of blocks, each refused by its own place. */
const wordsOf = (blocks: readonly Placed[], leftOut: LeftOut): string =>
  blocks.map(({ block, path }) => textOf([block], path.slice(0, path.lastIndexOf(".")), leftOut)).join("\n");

const fromAssistant = (content: Message["content"], path: string, leftOut: LeftOut): readonly ChatMessage[] => {
  const { these, others } = split(content, "tool_use", { path, leftOut });
  const calls = these.map(
    ({ block: { id, name, input }, path: place }): ChatToolCall => ({
      id: required(id, `${place}.id`),
      name: required(name, `${place}.name`),
      arguments: JSON.stringify(input ?? {}),
    }),
  );
  return [by.assistant(wordsOf(others, leftOut), calls)];
};

const fromUser = (content: Message["content"], path: string, leftOut: LeftOut): readonly ChatMessage[] => {
  const { these, others } = split(content, "tool_result", { path, leftOut });
  const results = these.map(({ block: { tool_use_id, content: said }, path: place }) =>
    by.result(required(tool_use_id, `${place}.tool_use_id`), textOf(said, `${place}.content`, leftOut)),
  );
  return others.length === 0 ? results : [...results, by.user(wordsOf(others, leftOut))];
};

const messagesIn = (messages: readonly Message[], leftOut: LeftOut): readonly ChatMessage[] =>
  messages.flatMap(({ role, content }, at) => {
    const path = `messages.${at}.content`;
    if (role === "assistant") return fromAssistant(content, path, leftOut);
    if (role === "system") return [by.system(textOf(content, path, leftOut))];
    if (at === messages.length - 1) refuseUnread(content, path);
    return fromUser(content, path, leftOut);
  });

const choiceOf = (choice: MessagesRequest["tool_choice"]): "auto" | "none" | "required" | { readonly name: string } => {
  if (choice == null) return "auto";
  if ("name" in choice) return { name: choice.name };
  return choice.type === "any" ? "required" : choice.type;
};

/** What a request of `/v1/messages`, or of its token count, asks. Throws ProblemError. */
const conversationIn = (request: MessagesRequest | CountTokensRequest, leftOut: LeftOut): Conversation => {
  const { messages, system: systemText, tools, tool_choice, output_config } = request;
  const limits = "max_tokens" in request ? { ...request, stop: request.stop_sequences } : {};
  return conversationOf({
    ...limits,
    messages: [
      ...(systemText == null ? [] : [by.system(textOf(systemText, "system", leftOut))]),
      ...messagesIn(messages, leftOut),
    ],
    tools: (tools ?? []).flatMap((tool) => {
      if (tool.type == null || tool.type === "custom")
        return [{ name: tool.name, description: tool.description ?? null, parameters: tool.input_schema }];
      leftOut.add(`tool ${tool.type}`);
      return [];
    }),
    tool_choice: choiceOf(tool_choice),
    parallel_tool_calls: tool_choice?.type !== "none" && tool_choice?.disable_parallel_tool_use !== true,
    json_schema: output_config?.format?.schema,
  });
};

/** `POST /v1/messages`, and its token count. */
export const anthropicRoutes = (app: App, services: ChatDeps): void => {
  addChatCall(app, services, {
    url: "/v1/messages",
    summary: "The same, as Anthropic's Messages",
    body: MessagesRequest,
    answer: MessageObject,
    event: MessageEvent,
    read: (request, leftOut) => {
      const head = { id: `msg_${randomUUID().replaceAll("-", "")}`, model: request.model };
      return {
        conversation: conversationIn(request, leftOut),
        whole: (answer) => messageObject(answer, head),
        encoder: messagesEncoder(head),
      };
    },
  });

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
    async (request, reply) => {
      const { body } = request;
      const leftOut: LeftOut = new Set();
      const conversation = conversationIn(body, leftOut);
      nameLeftOut(reply, leftOut);
      return { input_tokens: await services.chat.count({ model: body.model, conversation }, request) };
    },
  );
};
