import type { CallOptions } from "../http/options.js";
import type { Send } from "../http/request.js";

/** The part of OpenAI's chat completions that the service speaks. */
export interface ChatRequest {
  /** An adapter's id, or the base model's name. */
  readonly model: string;
  readonly messages: readonly { readonly role: "system" | "user" | "assistant"; readonly content: string }[];
  readonly max_tokens?: number;
  readonly temperature?: number;
  readonly seed?: number;
}

export interface ChatCompletion {
  readonly id: string;
  readonly object: "chat.completion";
  readonly created: number;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly message: { readonly role: "assistant"; readonly content: string };
    readonly finish_reason: "stop" | "length";
  }[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number };
}

export interface Chat {
  readonly completions: { create(request: ChatRequest, options?: CallOptions): Promise<ChatCompletion> };
}

/** The first answer loads the model, and a running job comes first. */
const CHAT_TIMEOUT_MS = 600_000;

export const chatResource = (send: Send): Chat => ({
  completions: {
    create: (request, options) =>
      send({ method: "POST", path: "/v1/chat/completions", json: request, options: { timeoutMs: CHAT_TIMEOUT_MS, ...options } }),
  },
});
