import { randomUUID } from "node:crypto";
import { ChatChunk, ChatCompletion, ChatRequest } from "@imprint/contracts";
import { wholeAnswer } from "../../chat/answer.js";
import { CHAT_BODY_LIMIT, CHAT_TIMEOUT_MS, type Desk } from "../../chat/desk.js";
import { sendStream } from "../../chat/send-stream.js";
import type { App } from "../../http/app.js";
import { chatTeller, completionOf } from "./chat-answer.js";
import { chatConversation } from "./chat-request.js";

/** `POST /v1/chat/completions` */
export const chatRoute = (app: App, desk: Desk): void => {
  app.post(
    "/v1/chat/completions",
    {
      config: { timeoutMs: CHAT_TIMEOUT_MS },
      bodyLimit: CHAT_BODY_LIMIT,
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
      const asked = { model, conversation: chatConversation(request.body), stream: stream ?? false };
      const events = await desk.ask(asked, request);
      const head = { id: `chatcmpl-${randomUUID()}`, created: desk.now(), model };
      if (!asked.stream) return completionOf(await wholeAnswer(events), head);
      const teller = chatTeller({ head, includeUsage: stream_options?.include_usage ?? false });
      return sendStream(events, teller, { request, reply });
    },
  );
};
