import { type ChatMessage, type ChatResult, type ChatSpec, isObject, type RenderedPrompt } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";
import type { ChatEvent } from "../../runners/runner.js";
import type { Attached } from "./adapters.js";
import { brokenOff, type UpstreamHttp } from "./http.js";
import type { UpstreamKind, UpstreamModel } from "./models.js";

/** What is used of a chunk of chat completions, or of completions. */
interface Chunk {
  readonly text: string;
  readonly tool_calls: readonly { readonly index: number; readonly name: string; readonly arguments: string }[];
  readonly finish_reason: string | null;
  /** The stop text that ended the answer, where the server says it: vLLM's `stop_reason`, SGLang's `matched_stop`. */
  readonly stop: string | null;
  readonly usage: unknown;
  readonly error: unknown;
}

type Open = Readonly<Record<string, unknown>>;

const objects = (value: unknown): readonly Open[] => (Array.isArray(value) ? value.filter(isObject) : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** Throws ImprintError for what is no JSON object. */
const objectOf = (data: string): Open => {
  try {
    const value: unknown = JSON.parse(data);
    if (isObject(value)) return value;
  } catch {
    // Said below.
  }
  throw new ImprintError("UPSTREAM_FAILED", "The upstream sends events that are no JSON objects.");
};

const callOf = (call: Open, place: number): Chunk["tool_calls"][number] => {
  const of = isObject(call.function) ? call.function : {};
  return { index: typeof call.index === "number" ? call.index : place, name: text(of.name), arguments: text(of.arguments) };
};

/** Throws ImprintError. Thoughts (`reasoning_content`) are left out: no API has a place for them. */
const chunkOf = (data: string): Chunk => {
  const chunk = objectOf(data);
  const [choice = {}] = objects(chunk.choices);
  const delta = isObject(choice.delta) ? choice.delta : {};
  return {
    text: text(delta.content) + text(choice.text),
    tool_calls: objects(delta.tool_calls).map(callOf),
    finish_reason: textOrNull(choice.finish_reason),
    stop: textOrNull(choice.stop_reason) ?? textOrNull(choice.matched_stop),
    usage: chunk.usage,
    error: chunk.error ?? (chunk.object === "error" ? chunk : undefined),
  };
};

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

const usageIn = ({ usage }: Pick<Chunk, "usage">): Usage | null => {
  if (!isObject(usage)) return null;
  const { prompt_tokens, completion_tokens } = usage;
  if (!Number.isInteger(prompt_tokens)) return null;
  return {
    prompt_tokens: prompt_tokens as number,
    completion_tokens: Number.isInteger(completion_tokens) ? (completion_tokens as number) : 0,
  };
};

interface Asked {
  readonly host: string;
  readonly spec: ChatSpec;
  readonly attached: Attached;
}

interface Listener {
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: ChatEvent) => void) | undefined;
}

/** Characters of an answer: no context holds more. */
const MAX_ANSWER = 16 * 1024 * 1024;
const lengthOf = ({ text, tool_calls }: Chunk): number =>
  tool_calls.reduce((sum, call) => sum + call.name.length + call.arguments.length, text.length);

/** Follows an answer to its end. Throws ImprintError where no chunk says how it ended: its connection did. */
const followed = async (
  chunks: AsyncIterable<string>,
  { host, spec }: Asked,
  onChunk: (chunk: Chunk, isFirst: boolean) => void,
): Promise<Omit<ChatResult, "text">> => {
  let isFirst = true;
  let length = 0;
  let finish: string | null = null;
  let stop: string | null = null;
  let usage: Usage | null = null;
  for await (const data of chunks) {
    const chunk = chunkOf(data);
    if (chunk.error !== undefined) throw brokenOff(host, chunk.error);
    length += lengthOf(chunk);
    if (length > MAX_ANSWER) throw new ImprintError("UPSTREAM_FAILED", `${host} answers more than 16 MiB.`);
    onChunk(chunk, isFirst);
    isFirst = false;
    finish = chunk.finish_reason ?? finish;
    stop = chunk.stop ?? stop;
    usage = usageIn(chunk) ?? usage;
  }
  if (finish === null) throw new ImprintError("UPSTREAM_FAILED", `${host} ended its answer in the middle.`);
  return {
    finish_reason: finish === "length" ? "length" : "stop",
    stop_text: stop !== null && spec.stop.includes(stop) ? stop : null,
    prompt_tokens: usage?.prompt_tokens ?? 0,
    completion_tokens: usage?.completion_tokens ?? 0,
  };
};

const messageOf = ({ role, content, tool_calls, tool_call_id }: ChatMessage): object => {
  if (role === "tool") return { role, tool_call_id, content };
  if (tool_calls.length === 0) return { role, content };
  const calls = tool_calls.map(({ id, name, arguments: args }) => ({
    id,
    type: "function",
    function: { name, arguments: args },
  }));
  return { role, content: content === "" ? null : content, tool_calls: calls };
};

const toolsOf = ({ tools, tool_choice, parallel_tool_calls }: ChatSpec, strict: readonly string[]): object =>
  tools.length === 0
    ? {}
    : {
        tools: tools.map(({ name, description, parameters }) => ({
          type: "function",
          function: {
            name,
            ...(description !== null && { description }),
            ...(parameters != null && { parameters }),
            ...(strict.includes(name) && { strict: true }),
          },
        })),
        tool_choice: typeof tool_choice === "object" ? { type: "function", function: tool_choice } : tool_choice,
        ...(!parallel_tool_calls && { parallel_tool_calls }),
      };

/** What else decides about tokens: said in full, since these servers begin with other values (a model's own, or llama.cpp's). */
const decidedOf = (kind: UpstreamKind, { top_p, top_k, min_p }: ChatSpec): object => {
  const common = { top_p, min_p, presence_penalty: 0, frequency_penalty: 0 };
  if (kind === "llama-server")
    return { ...common, top_k, repeat_penalty: 1, dry_multiplier: 0, xtc_probability: 0, typical_p: 1 };
  return { ...common, top_k: top_k === 0 ? -1 : top_k, repetition_penalty: 1 };
};

/** To a server that is not known goes what every one takes, and of the rest what is asked: some refuse fields that they do not know. */
const samplingOf = (kind: UpstreamKind, spec: ChatSpec): object => {
  const { temperature, top_p, top_k, min_p, seed, stop } = spec;
  const asked = { ...(top_p !== 1 && { top_p }), ...(top_k > 0 && { top_k }), ...(min_p > 0 && { min_p }) };
  return {
    temperature,
    ...(kind === "openai" ? asked : decidedOf(kind, spec)),
    ...(seed !== 0 && { seed }),
    ...(stop.length > 0 && { stop }),
  };
};

interface Passed extends Asked {
  readonly strict_tools: readonly string[];
  readonly kind: UpstreamKind;
}

/** OpenAI's chat completion. A prompt alone (`max_tokens` 0) is counted by an answer of one token. */
const chatBody = ({ spec, strict_tools: strict, attached, kind }: Passed): object => ({
  ...attached,
  messages: spec.messages.map(messageOf),
  ...toolsOf(spec, strict),
  ...(spec.json_schema !== null && {
    response_format: { type: "json_schema", json_schema: { name: "answer", schema: spec.json_schema } },
  }),
  ...(spec.max_tokens !== null && { max_tokens: Math.max(1, spec.max_tokens) }),
  ...samplingOf(kind, spec),
  ...(spec.enable_thinking !== null && { chat_template_kwargs: { enable_thinking: spec.enable_thinking } }),
  stream: true,
  stream_options: { include_usage: true },
});

interface Call {
  name: string;
  arguments: string;
}

/** Calls that come in pieces, each told once it is whole. */
const callsTold = (tell: (event: ChatEvent) => void): { add(chunk: Chunk): void; end(): void } => {
  const open = new Map<number, Call>();
  const close = (unless?: number): void => {
    for (const [index, call] of open) {
      if (index === unless) continue;
      open.delete(index);
      tell({ type: "call", name: call.name, arguments: call.arguments });
    }
  };
  return {
    add: ({ tool_calls }) => {
      for (const { index, name, arguments: args } of tool_calls) {
        close(index);
        const call = open.get(index) ?? { name: "", arguments: "" };
        open.set(index, call);
        call.name ||= name;
        call.arguments += args;
      }
    },
    end: () => close(),
  };
};

/** A chat as it is, answered by a model that only the upstream has: its own template, its own reading of calls. */
export const passOn = async (http: UpstreamHttp, asked: Passed, { signal, onEvent }: Listener): Promise<ChatResult> => {
  const tell = (event: ChatEvent): void => onEvent?.(event);
  const calls = callsTold(tell);
  let text = "";
  const chunks = http.follow({ path: "/v1/chat/completions", body: chatBody(asked), signal });
  const result = await followed(chunks, asked, (chunk, isFirst) => {
    // Its count of the prompt comes last.
    if (isFirst) tell({ type: "prompt", prompt: { prompt_tokens: usageIn(chunk)?.prompt_tokens ?? 0, tool_format: null } });
    calls.add(chunk);
    text += chunk.text;
    // Also where nothing is streamed: words stand before and behind calls.
    if (chunk.text !== "") tell({ type: "token", text: chunk.text });
  });
  calls.end();
  return { text, ...result };
};

const formOf = (kind: UpstreamKind, { json_schema }: ChatSpec): object => {
  if (json_schema === null) return {};
  if (kind === "llama-server") return { json_schema };
  if (kind === "sglang") return { json_schema: JSON.stringify(json_schema) };
  return { response_format: { type: "json_schema", json_schema: { name: "answer", schema: json_schema } } };
};

/** Some families begin a call with a control token, which has to be shown; llama-server always shows what it generated. */
const tokensOf = (kind: UpstreamKind, { tool_format, end_tokens }: RenderedPrompt): object =>
  kind === "llama-server" ? {} : { stop_token_ids: end_tokens, skip_special_tokens: tool_format === null };

/** A prompt as the trainer renders it, completed by an upstream: training and serving show the model the same tokens. */
export const complete = async (
  http: UpstreamHttp,
  asked: Asked & { readonly prompt: RenderedPrompt; readonly model: UpstreamModel },
  { signal, onEvent }: Listener,
): Promise<ChatResult> => {
  const { spec, prompt, model, attached } = asked;
  const { prompt_tokens, tool_format, opening, tokens, max_new_tokens } = prompt;
  const room = model.context_length === null ? max_new_tokens : model.context_length - tokens.length;
  const body = {
    ...attached,
    prompt: tokens,
    max_tokens: Math.max(1, Math.min(max_new_tokens, room)),
    ...samplingOf(model.kind, spec),
    ...tokensOf(model.kind, prompt),
    ...formOf(model.kind, spec),
    stream: true,
    stream_options: { include_usage: true },
  };
  let text = "";
  const tell = (piece: string): void => {
    text += piece;
    if (piece !== "" && spec.stream) onEvent?.({ type: "token", text: piece });
  };
  const result = await followed(http.follow({ path: "/v1/completions", body, signal }), asked, (chunk, isFirst) => {
    if (isFirst) onEvent?.({ type: "prompt", prompt: { prompt_tokens, tool_format } });
    if (isFirst) tell(opening);
    tell(chunk.text);
  });
  return { ...result, text, prompt_tokens, completion_tokens: tokens.length - prompt_tokens + result.completion_tokens };
};
