import type { ChatResult, ChatSpec, RenderedPrompt } from "@imprint/contracts";
import type { ChatEvent } from "../../runners/runner.js";
import type { Attached } from "./adapters.js";
import { samplingOf } from "./chat.js";
import { chatChunk, type Ended, resultOf, usageIn } from "./chunks.js";
import type { UpstreamHttp } from "./http.js";
import type { UpstreamKind, UpstreamModel } from "./models.js";
import { brokenOff } from "./refusals.js";

const formOf = (kind: UpstreamKind, { json_schema }: ChatSpec): object => {
  if (json_schema === null) return {};
  if (kind === "llama-server") return { json_schema };
  if (kind === "sglang") return { json_schema: JSON.stringify(json_schema) };
  return { response_format: { type: "json_schema", json_schema: { name: "answer", schema: json_schema } } };
};

/** Some families begin a call with a control token, which has to be shown; llama-server always shows what it generated. */
const tokensOf = (kind: UpstreamKind, { tool_format, end_tokens }: RenderedPrompt): object =>
  kind === "llama-server" ? {} : { stop_token_ids: end_tokens, skip_special_tokens: tool_format === null };

interface Asked {
  readonly host: string;
  readonly spec: ChatSpec;
  readonly prompt: RenderedPrompt;
  readonly model: UpstreamModel;
  readonly attached: Attached;
}

/** A prompt as the trainer renders it, completed by an upstream: training and serving show the model the same tokens. */
export const complete = async (
  http: UpstreamHttp,
  { host, spec, prompt, model, attached }: Asked,
  { signal, onEvent }: { readonly signal?: AbortSignal | undefined; readonly onEvent?: ((event: ChatEvent) => void) | undefined },
): Promise<ChatResult> => {
  const { prompt_tokens, tool_format, opening, tokens, max_new_tokens } = prompt;
  const room = model.context_length === null ? max_new_tokens : model.context_length - tokens.length;
  const body = {
    ...attached,
    prompt: tokens,
    max_tokens: Math.max(1, Math.min(max_new_tokens, room)),
    ...samplingOf(spec),
    ...tokensOf(model.kind, prompt),
    ...formOf(model.kind, spec),
    stream: true,
    stream_options: { include_usage: true },
  };
  let [text, begun] = ["", false];
  const tell = (piece: string): void => {
    text += piece;
    if (piece !== "" && spec.stream) onEvent?.({ type: "token", text: piece });
  };
  const ended: Ended = { finish: null, stop: null, usage: null };
  for await (const data of http.follow({ path: "/v1/completions", body, signal })) {
    const chunk = chatChunk(data);
    if (chunk.error !== undefined) throw brokenOff(host, chunk.error);
    if (!begun) {
      onEvent?.({ type: "prompt", prompt: { prompt_tokens, tool_format } });
      tell(opening);
    }
    begun = true;
    tell(chunk.text);
    ended.finish = chunk.finish_reason ?? ended.finish;
    ended.stop = chunk.stop ?? ended.stop;
    ended.usage = usageIn(chunk) ?? ended.usage;
  }
  const result = resultOf({ host, spec, text, ended });
  return { ...result, prompt_tokens, completion_tokens: tokens.length - prompt_tokens + result.completion_tokens };
};
