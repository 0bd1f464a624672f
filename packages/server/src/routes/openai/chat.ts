import { randomUUID } from "node:crypto";
import { ChatChunk, ChatCompletion, type ChatMessage, ChatRequest } from "@imprint/contracts";
import { wholeAnswer } from "../../chat/answer.js";
import { assistant, type Conversation, conversationOf, result, system, textOf, user } from "../../chat/conversation.js";
import { fieldRefused } from "../../common/problem.js";
import type { App } from "../../http/app.js";
import { CHAT_ROUTE, type ChatDeps, epochSeconds, sendStream } from "../answer-stream.js";
import { chunkEncoder, completionOf } from "./chat-answer.js";

const toMessage = ({ role, content, tool_calls, tool_call_id }: ChatRequest["messages"][number], at: number): ChatMessage => {
  const path = `messages.${at}`;
  if (content == null && role !== "assistant") throw fieldRefused(`${path}.content`, "is required");
  const text = textOf(content, `${path}.content`);
  if (role === "assistant")
    return assistant(
      text,
      (tool_calls ?? []).map((call) => ({ id: call.id, ...call.function })),
    );
  if (role === "user") return user(text);
  if (role !== "tool") return system(text); // `developer` is OpenAI's newer name of the same role
  if (tool_call_id === undefined) throw fieldRefused(`${path}.tool_call_id`, "is required");
  return result(tool_call_id, text);
};

const schemaOf = (format: ChatRequest["response_format"]): unknown => {
  if (format == null || format.type === "text") return null;
  return "json_schema" in format ? (format.json_schema.schema ?? {}) : { type: "object" };
};

/** What a request of `/v1/chat/completions` asks. Throws ProblemError for fields that contradict each other. */
const conversationIn = (request: ChatRequest): Conversation => {
  const { messages, tools, tool_choice, response_format, max_tokens, max_completion_tokens, ...sampling } = request;
  if (max_tokens != null && max_completion_tokens != null)
    throw fieldRefused("max_completion_tokens", "cannot stand beside max_tokens, its older name");
  if (request.stream_options != null && request.stream !== true) throw fieldRefused("stream_options", "needs stream: true");
  return conversationOf({
    ...sampling,
    messages: messages.map(toMessage),
    strict_tools: (tools ?? []).flatMap(({ function: { name, strict } }) => (strict === true ? [name] : [])),
    tools: (tools ?? []).map(({ function: { name, description, parameters } }) => ({
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
export const chatRoute = (app: App, { chat, workshop }: ChatDeps): void => {
  app.post(
    "/v1/chat/completions",
    {
      ...CHAT_ROUTE,
      schema: {
        tags: ["chat"],
        summary: "Chat with a base model or an adapter",
        body: ChatRequest,
        response: {
          200: {
            description: "The completion; with stream, its chunks as server-sent events",
            content: { "application/json": { schema: ChatCompletion }, "text/event-stream": { schema: ChatChunk } },
          },
        },
      },
    },
    async (request, reply) => {
      const { model, stream, stream_options } = request.body;
      const asked = { model, conversation: conversationIn(request.body), stream: stream ?? false };
      const events = await chat.ask(asked, request);
      const head = { id: `chatcmpl-${randomUUID()}`, created: epochSeconds(workshop.now()), model };
      if (!asked.stream) return completionOf(await wholeAnswer(events), head);
      const encoder = chunkEncoder({ head, includeUsage: stream_options?.include_usage ?? false });
      return sendStream(events, encoder, { request, reply });
    },
  );
};
