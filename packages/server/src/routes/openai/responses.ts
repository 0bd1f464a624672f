import { ResponseEvent, ResponseObject, ResponsesRequest } from "@imprint/contracts";
import { wholeAnswer } from "../../chat/answer.js";
import { CHAT_BODY_LIMIT, CHAT_TIMEOUT_MS, type Desk } from "../../chat/desk.js";
import { sendStream } from "../../chat/send-stream.js";
import type { App } from "../../http/app.js";
import { begunResponse, responseOf, responsesTeller } from "./responses-answer.js";
import { responsesConversation } from "./responses-request.js";

/** `POST /v1/responses`, of which nothing is stored. */
export const responsesRoute = (app: App, desk: Desk): void => {
  app.post(
    "/v1/responses",
    {
      config: { timeoutMs: CHAT_TIMEOUT_MS },
      bodyLimit: CHAT_BODY_LIMIT,
      schema: {
        tags: ["chat"],
        summary: "The same, as OpenAI's Responses",
        body: ResponsesRequest,
        response: {
          200: {
            description: "The response; with stream, its events as server-sent events",
            content: { "application/json": { schema: ResponseObject }, "text/event-stream": { schema: ResponseEvent } },
          },
        },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const { conversation, toolNames } = responsesConversation(body);
      const stream = body.stream ?? false;
      const events = await desk.ask({ model: body.model, conversation, stream }, request);
      const head = { response: begunResponse(body, { conversation, created_at: desk.now() }), toolNames };
      if (!stream) return responseOf(await wholeAnswer(events), head);
      return sendStream(events, responsesTeller(head), { request, reply });
    },
  );
};
