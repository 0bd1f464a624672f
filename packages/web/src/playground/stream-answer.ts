import { apiError, type ChatRequest } from "@imprint/client";
import { watchedFetch } from "../api.js";

interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
  readonly error?: { readonly message: string };
}

/** The `data:` lines of server-sent events, as they arrive. */
async function* dataOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    const lines = `${rest}${value ?? ""}`.split(/\r?\n/);
    rest = done ? "" : (lines.pop() ?? "");
    for (const line of lines) if (line.startsWith("data:")) yield line.slice(5).trim();
    if (done) return;
  }
}

/** The answer of a model in pieces, as OpenAI's clients read them. */
export async function* streamAnswer(request: ChatRequest, signal: AbortSignal): AsyncGenerator<string> {
  const response = await watchedFetch("/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...request, stream: true }),
    signal,
  });
  if (!response.ok || response.body === null) throw apiError(response.status, await response.json().catch(() => null));
  for await (const data of dataOf(response.body)) {
    if (data === "[DONE]") return;
    const chunk = JSON.parse(data) as Chunk;
    if (chunk.error) throw new Error(chunk.error.message);
    const content = chunk.choices?.[0]?.delta?.content;
    if (content) yield content;
  }
}
