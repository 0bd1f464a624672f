import { randomUUID } from "node:crypto";
import { AdapterId, ChatChunk, ChatCompletion, ChatRequest } from "@imprint/contracts";
import { matches } from "../common/matches.js";
import { quote } from "../common/quote.js";
import { ProblemError } from "../http/problem.js";
import { locateBaseModel } from "../models/base-model.js";
import { findAdapter } from "../registry/adapters.js";
import { requireWhole } from "../registry/health.js";
import type { App, Services } from "../services.js";
import { inTransaction } from "../storage/transaction.js";
import { chunksOf, completionOf } from "./chat-answer.js";
import { samplingOf } from "./chat-request.js";
import { sendEventStream } from "./event-stream.js";
import { textStream } from "./text-stream.js";

/** Until the answer, or its first token. */
const TIMEOUT_MS = 600_000;

/** `POST /v1/chat/completions`: try an adapter with any OpenAI client. For trying, not for serving load. */
export const chatRoute = (
  app: App,
  { workshop, interactive, closing }: Pick<Services, "workshop" | "interactive" | "closing">,
): void => {
  const { database, models, now } = workshop;

  /** The registry is asked in a transaction of its own: the answer may take minutes. */
  const locate = async (model: string) => {
    const adapter = matches(AdapterId, model) ? await inTransaction(database, (session) => findAdapter(session, model)) : null;
    if (adapter)
      return {
        base_model: locateBaseModel(adapter.base_model, models).location,
        adapter_path: await requireWhole(workshop, adapter),
      };
    try {
      return { base_model: locateBaseModel(model, models).location, adapter_path: null };
    } catch {
      throw new ProblemError(
        "NOT_FOUND",
        `${quote(model)} is neither an adapter nor a prepared base model; GET /v1/models lists both.`,
      );
    }
  };

  app.post(
    "/v1/chat/completions",
    {
      config: { timeoutMs: TIMEOUT_MS },
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
      const { model, stream_options } = request.body;
      const sampling = samplingOf(request.body);
      const spec = { ...(await locate(model)), ...sampling };
      const head = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(now().getTime() / 1000), model };
      const signal = AbortSignal.any([request.cancelled, closing]);
      if (!spec.stream) return completionOf(await interactive.call({ type: "chat", spec }, signal), head);

      const texts = textStream((onText) => interactive.call({ type: "chat", spec }, signal, onText));
      const first = await texts.next();
      const chunks = chunksOf({ first, texts }, { head, includeUsage: stream_options?.include_usage ?? false });
      return sendEventStream(chunks, request, reply);
    },
  );
};
