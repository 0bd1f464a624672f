import { type ChatResult, type ChatSpec, isObject } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";

/** What is used of a chunk of chat completions, or of completions. */
export interface ChatChunk {
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

const callOf = (call: Open, place: number): ChatChunk["tool_calls"][number] => {
  const of = isObject(call.function) ? call.function : {};
  return { index: typeof call.index === "number" ? call.index : place, name: text(of.name), arguments: text(of.arguments) };
};

/** Throws ImprintError. Thoughts (`reasoning_content`) are left out: no face has a place for them. */
export const chatChunk = (data: string): ChatChunk => {
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

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

export const usageIn = ({ usage }: Pick<ChatChunk, "usage">): Usage | null => {
  if (!isObject(usage)) return null;
  const { prompt_tokens, completion_tokens } = usage;
  if (!Number.isInteger(prompt_tokens)) return null;
  return {
    prompt_tokens: prompt_tokens as number,
    completion_tokens: Number.isInteger(completion_tokens) ? (completion_tokens as number) : 0,
  };
};

/** How an answer ended, as far as the server said. */
export interface Ended {
  finish: string | null;
  stop: string | null;
  usage: Usage | null;
}

/** Throws ImprintError where no chunk said how the answer ended: its connection did. */
export const resultOf = ({
  host,
  spec,
  text,
  ended: { finish, stop, usage },
}: {
  readonly host: string;
  readonly spec: ChatSpec;
  readonly text: string;
  readonly ended: Ended;
}): ChatResult => {
  if (finish === null) throw new ImprintError("UPSTREAM_FAILED", `${host} ended its answer in the middle.`);
  return {
    text,
    finish_reason: finish === "length" ? "length" : "stop",
    stop_text: stop !== null && spec.stop.includes(stop) ? stop : null,
    prompt_tokens: usage?.prompt_tokens ?? 0,
    completion_tokens: usage?.completion_tokens ?? 0,
  };
};
