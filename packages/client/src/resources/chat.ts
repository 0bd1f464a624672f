import type { ChatChunk, ChatCompletion } from "@imprint/contracts";
import { AbortError, apiError, ConnectionError, ImprintError } from "../errors.js";
import { messagesOf } from "../events/messages.js";
import type { Open } from "../http/open.js";
import type { CallOptions } from "../http/options.js";
import type { Send } from "../http/request.js";
import type { Call } from "../http/transport.js";

/** The part of OpenAI's chat completions that the service speaks. */
export interface ChatRequest {
  /** An adapter's id, or the base model's name. */
  readonly model: string;
  readonly messages: readonly { readonly role: "system" | "user" | "assistant"; readonly content: string }[];
  /** Functions as OpenAI describes them; listed in the prompt where the model's chat template has a place for them. */
  readonly tools?: readonly object[];
  readonly max_tokens?: number;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly stop?: string | readonly string[];
  readonly seed?: number;
  readonly stream?: false;
}

export interface ChatStreamRequest extends Omit<ChatRequest, "stream"> {
  readonly stream: true;
  readonly stream_options?: { readonly include_usage?: boolean };
}

export interface Chat {
  readonly completions: {
    /** Resolves when the answer begins; to stop reading, or an abort, ends the generation. */
    create(request: ChatStreamRequest, options?: CallOptions): Promise<AsyncIterable<ChatChunk>>;
    create(request: ChatRequest, options?: CallOptions): Promise<ChatCompletion>;
  };
}

/** The first answer loads the model, and a running job comes first. */
const CHAT_TIMEOUT_MS = 600_000;
const END = "[DONE]";

async function* chunksOf({ body }: Response, signal: AbortSignal | undefined): AsyncGenerator<ChatChunk, void, void> {
  try {
    for await (const { data } of body === null ? [] : messagesOf(body)) {
      if (data === END) return;
      const value = JSON.parse(data) as ChatChunk | { readonly error: unknown };
      // Its status was sent before it went wrong.
      if ("error" in value) throw apiError(200, value);
      yield value;
    }
  } catch (cause) {
    if (cause instanceof ImprintError) throw cause;
    if (signal?.aborted) throw new AbortError("The call was aborted", { cause });
    throw new ConnectionError("The stream broke off", { cause });
  }
  throw new ConnectionError("The stream ended before the answer did");
}

export const chatResource = (send: Send, open: Open): Chat => {
  function create(request: ChatStreamRequest, options?: CallOptions): Promise<AsyncIterable<ChatChunk>>;
  function create(request: ChatRequest, options?: CallOptions): Promise<ChatCompletion>;
  async function create(
    request: ChatRequest | ChatStreamRequest,
    options?: CallOptions,
  ): Promise<ChatCompletion | AsyncIterable<ChatChunk>> {
    const call: Call = {
      method: "POST",
      path: "/v1/chat/completions",
      json: request,
      options: { timeoutMs: CHAT_TIMEOUT_MS, ...options },
    };
    if (!request.stream) return send<ChatCompletion>(call);
    return chunksOf(await open({ ...call, headers: { accept: "text/event-stream" } }), options?.signal);
  }
  return { completions: { create } };
};
