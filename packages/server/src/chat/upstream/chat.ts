import type { ChatMessage, ChatResult, ChatSpec } from "@imprint/contracts";
import type { ChatEvent } from "../../runners/runner.js";
import type { Attached } from "./adapters.js";
import { type ChatChunk, chatChunk, type Ended, resultOf, usageIn } from "./chunks.js";
import type { UpstreamHttp } from "./http.js";
import { brokenOff } from "./refusals.js";

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

/** The fields that every server takes; what is at its default is left out, since some refuse fields that they do not know. */
export const samplingOf = ({ temperature, top_p, seed, stop }: ChatSpec): object => ({
  temperature,
  ...(top_p !== 1 && { top_p }),
  ...(seed !== 0 && { seed }),
  ...(stop.length > 0 && { stop }),
});

/** OpenAI's chat completion. A prompt alone (`max_tokens` 0) is counted by an answer of one token. */
export const chatBody = (spec: ChatSpec, strict: readonly string[], attached: Attached): object => ({
  ...attached,
  messages: spec.messages.map(messageOf),
  ...toolsOf(spec, strict),
  ...(spec.json_schema !== null && {
    response_format: { type: "json_schema", json_schema: { name: "answer", schema: spec.json_schema } },
  }),
  ...(spec.max_tokens !== null && { max_tokens: Math.max(1, spec.max_tokens) }),
  ...samplingOf(spec),
  stream: true,
  stream_options: { include_usage: true },
});

interface Call {
  name: string;
  arguments: string;
}

/** Calls that come in pieces, each told once it is whole. */
const callsTold = (tell: (event: ChatEvent) => void): { add(chunk: ChatChunk): void; end(): void } => {
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

interface Asked {
  readonly host: string;
  readonly spec: ChatSpec;
  readonly strict_tools: readonly string[];
  readonly attached: Attached;
}

/** A chat as it is, answered by a model that only the upstream has: its own template, its own reading of calls. */
export const passOn = async (
  http: UpstreamHttp,
  { host, spec, strict_tools, attached }: Asked,
  { signal, onEvent }: { readonly signal?: AbortSignal | undefined; readonly onEvent?: ((event: ChatEvent) => void) | undefined },
): Promise<ChatResult> => {
  const tell = (event: ChatEvent): void => onEvent?.(event);
  const calls = callsTold(tell);
  let [text, begun] = ["", false];
  const ended: Ended = { finish: null, stop: null, usage: null };
  for await (const data of http.follow({ path: "/v1/chat/completions", body: chatBody(spec, strict_tools, attached), signal })) {
    const chunk = chatChunk(data);
    if (chunk.error !== undefined) throw brokenOff(host, chunk.error);
    // Its count of the prompt comes last.
    if (!begun) tell({ type: "prompt", prompt: { prompt_tokens: usageIn(chunk)?.prompt_tokens ?? 0, tool_format: null } });
    begun = true;
    calls.add(chunk);
    text += chunk.text;
    // Also where nothing is streamed: words stand before and behind calls.
    if (chunk.text !== "") tell({ type: "token", text: chunk.text });
    ended.finish = chunk.finish_reason ?? ended.finish;
    ended.stop = chunk.stop ?? ended.stop;
    ended.usage = usageIn(chunk) ?? ended.usage;
  }
  calls.end();
  return resultOf({ host, spec, text, ended });
};
