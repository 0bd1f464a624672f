import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { AdapterId, ChatSpec, Strict } from "@imprint/contracts";
import { Type } from "typebox";
import { ProblemError, quote } from "../../problem.js";
import { findAdapter } from "../../registry/adapters.js";
import { withSession } from "../../registry/unit-of-work.js";
import type { App, Services } from "../../services.js";
import { locateBaseModel } from "../../training/base-model.js";
import { matches } from "../../validate.js";
import { abortedWith } from "../aborted.js";
import { answer } from "../schemas.js";
import { sendOpenAiError } from "./errors.js";

const TIMEOUT_MS = 600_000;
const MAX_MESSAGES = 256;

const Message = Strict({ ...ChatSpec.properties.messages.items.properties, content: Type.String({ maxLength: 262_144 }) });

const ChatRequest = Strict({
  model: Type.String({ minLength: 1, maxLength: 200, description: "An adapter's id, or a base model's name" }),
  messages: Type.Array(Message, { minItems: 1, maxItems: MAX_MESSAGES }),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 4096, default: 256 })),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2, default: 0 })),
  seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1, default: 0 })),
});

const ChatCompletion = Strict({
  id: Type.String(),
  object: Type.Literal("chat.completion"),
  created: Type.Integer(),
  model: Type.String(),
  choices: Type.Array(
    Strict({
      index: Type.Integer(),
      message: Strict({ role: Type.Literal("assistant"), content: Type.String() }),
      finish_reason: Type.Union([Type.Literal("stop"), Type.Literal("length")]),
    }),
  ),
  usage: Strict({ prompt_tokens: Type.Integer(), completion_tokens: Type.Integer(), total_tokens: Type.Integer() }),
});

/** `POST /v1/chat/completions`: try an adapter with any OpenAI client. For trying, not for serving load. */
export const chatRoute = (
  app: App,
  { workshop, executor, closing }: Pick<Services, "workshop" | "executor" | "closing">,
): void => {
  const { database, models, paths, now } = workshop;

  /** The registry is asked in a transaction of its own: the answer may take minutes. */
  const locate = async (model: string) => {
    const adapter = matches(AdapterId, model) ? await withSession(database, (session) => findAdapter(session, model)) : null;
    if (adapter)
      return { base_model: locateBaseModel(adapter.base_model, models).location, adapter_path: join(paths.root, adapter.path) };
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
      handlerTimeout: TIMEOUT_MS,
      errorHandler: sendOpenAiError,
      schema: {
        tags: ["chat"],
        summary: "Chat with a base model or an adapter",
        body: ChatRequest,
        response: { 200: answer("The completion", ChatCompletion) },
      },
    },
    async (request, reply) => {
      const { model, messages, max_tokens = 256, temperature = 0, seed = 0 } = request.body;
      const spec = { ...(await locate(model)), messages, max_tokens, temperature, seed };
      const result = await executor.call({ type: "chat", spec }, AbortSignal.any([abortedWith(reply), closing]));
      const { text, finish_reason, prompt_tokens, completion_tokens } = result;
      return {
        id: `chatcmpl-${randomUUID()}`,
        object: "chat.completion",
        created: Math.floor(now().getTime() / 1000),
        model,
        choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason }],
        usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
      } as const;
    },
  );
};
