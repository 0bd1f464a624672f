import { randomUUID } from "node:crypto";
import { CountTokensRequest, MessageEvent, MessageObject, MessagesRequest, TokenCount } from "@imprint/contracts";
import { wholeAnswer } from "../../chat/answer.js";
import { CHAT_BODY_LIMIT, CHAT_TIMEOUT_MS, type Desk } from "../../chat/desk.js";
import { sendStream } from "../../chat/send-stream.js";
import type { App } from "../../http/app.js";
import { answer } from "../../http/schemas.js";
import { messageObject, messagesTeller } from "./messages-answer.js";
import { messagesConversation } from "./messages-request.js";

const options = { config: { timeoutMs: CHAT_TIMEOUT_MS }, bodyLimit: CHAT_BODY_LIMIT };

/** `POST /v1/messages`, and its token count. */
export const messagesRoutes = (app: App, desk: Desk): void => {
  app.post(
    "/v1/messages",
    {
      ...options,
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
      const asked = { model: body.model, conversation: messagesConversation(body), stream: body.stream ?? false };
      const events = await desk.ask(asked, request);
      const head = { id: `msg_${randomUUID().replaceAll("-", "")}`, model: body.model };
      if (!asked.stream) return messageObject(await wholeAnswer(events), head);
      return sendStream(events, messagesTeller(head), { request, reply });
    },
  );

  app.post(
    "/v1/messages/count_tokens",
    {
      ...options,
      schema: {
        tags: ["chat"],
        summary: "Tokens of a message's prompt",
        body: CountTokensRequest,
        response: { 200: answer("The count", TokenCount) },
      },
    },
    async (request) => {
      const { body } = request;
      return { input_tokens: await desk.count({ model: body.model, conversation: messagesConversation(body) }, request) };
    },
  );
};
