import { randomUUID } from "node:crypto";
import { ChatChunk, ChatCompletion, type ChatMessage, ChatRequest, type ChatToolCall } from "@imprint/contracts";
import { by, type Conversation, conversationOf, type LeftOut, refuseUnread, required, textOf } from "../../chat/conversation.js";
import { fieldRefused } from "../../common/error.js";
import type { App } from "../../http/app.js";
import { addChatCall, type ChatDeps, epochSeconds } from "../answer-stream.js";
import { chunkEncoder, completionOf } from "./chat-answer.js";

const messagesIn = (messages: ChatRequest["messages"], leftOut: LeftOut): readonly ChatMessage[] => {
  /** Calls that are left out, as are their results. */
  const lost = new Set<unknown>();
  return messages.flatMap(({ role, content, tool_calls, tool_call_id }, at) => {
    const path = `messages.${at}`;
    if (content == null && role !== "assistant") throw fieldRefused(`${path}.content`, "is required");
    const text = textOf(content, `${path}.content`, leftOut);
    if (role === "assistant") {
      const calls: ChatToolCall[] = [];
      for (const call of tool_calls ?? [])
        if (call.type === undefined || call.type === "function") calls.push({ id: call.id, ...call.function });
        else {
          leftOut.add(`call ${call.type}`);
          lost.add((call as { readonly id?: unknown }).id);
        }
      return by.assistant(text, calls);
    }
    if (role === "user") {
      if (at === messages.length - 1) refuseUnread(content, `${path}.content`);
      return by.user(text);
    }
    if (role !== "tool") return by.system(text); // `developer` is OpenAI's newer name of the same role
    return lost.has(tool_call_id) ? [] : by.result(required(tool_call_id, `${path}.tool_call_id`), text);
  });
};

const functionsIn = (tools: ChatRequest["tools"], leftOut: LeftOut) =>
  (tools ?? []).flatMap((tool) => {
    if (tool.type === "function") return [tool.function];
    leftOut.add(`tool ${tool.type}`);
    return [];
  });

const schemaOf = (format: ChatRequest["response_format"]): unknown => {
  if (format == null || format.type === "text") return null;
  return "json_schema" in format ? (format.json_schema.schema ?? {}) : { type: "object" };
};

/** What a request of `/v1/chat/completions` asks. Throws ProblemError for fields that contradict each other. */
const conversationIn = (request: ChatRequest, leftOut: LeftOut): Conversation => {
  const { messages, tools, tool_choice, response_format, max_tokens, max_completion_tokens, ...sampling } = request;
  if (max_tokens != null && max_completion_tokens != null && max_tokens !== max_completion_tokens)
    throw fieldRefused("max_completion_tokens", "differs from max_tokens, its older name: send one of them");
  if (request.stream_options != null && request.stream !== true) throw fieldRefused("stream_options", "needs stream: true");
  const functions = functionsIn(tools, leftOut);
  return conversationOf({
    ...sampling,
    messages: messagesIn(messages, leftOut),
    strict_tools: functions.flatMap(({ name, strict }) => (strict === true ? [name] : [])),
    tools: functions.map(({ name, description, parameters }) => ({
      name,
      description: description ?? null,
      parameters: parameters ?? null,
    })),
    tool_choice: typeof tool_choice === "object" && tool_choice !== null ? tool_choice.function : (tool_choice ?? "auto"),
    json_schema: schemaOf(response_format),
    max_tokens: max_completion_tokens ?? max_tokens,
  });
};

/** `POST /v1/chat/completions` */
export const chatRoute = (app: App, services: ChatDeps): void =>
  addChatCall(app, services, {
    url: "/v1/chat/completions",
    summary: "Chat with a base model or an adapter",
    body: ChatRequest,
    answer: ChatCompletion,
    event: ChatChunk,
    read: (request, leftOut) => {
      const { model, stream_options } = request;
      const head = { id: `chatcmpl-${randomUUID()}`, created: epochSeconds(services.deps.now()), model };
      return {
        conversation: conversationIn(request, leftOut),
        whole: (answer) => completionOf(answer, head),
        encoder: chunkEncoder({ head, includeUsage: stream_options?.include_usage ?? false }),
      };
    },
  });
