import { isObject } from "@imprint/contracts";
import { type Call, callsOf, jsonText, parsed, type Tool } from "./call.js";
import { accept, type Input, more, type Reading, run, space, until } from "./input.js";

/** One call as JSON, or a list of them. */
export function* jsonCalls(input: Input): Reading<readonly Call[]> {
  yield* space(input);
  const json = yield* jsonText(input);
  return json === null ? null : callsOf(json);
}

/** Behind `<tool_call>`: JSON (Hermes, Qwen, Granite 3.1, SmolLM), or a function in tags (Qwen3-Coder). */
export function* taggedCalls(input: Input, tools: readonly Tool[]): Reading<readonly Call[]> {
  yield* space(input);
  if ((yield* more(input)) && input.text.charAt(input.at) !== "<") return yield* jsonCalls(input);
  return (yield* accept(input, "<function=")) ? yield* functionInTags(input, tools) : null;
}

/** `N>` `<parameter=K>` text `</parameter>` ... `</function>`, behind `<function=`. */
export function* functionInTags(input: Input, tools: readonly Tool[]): Reading<readonly Call[]> {
  const name = yield* run(input, /[^\s<>"'={}]/);
  if (name === null || !(yield* accept(input, ">"))) return null;
  const members = new Map<string, string>();
  while (!(yield* accept(input, "</function>"))) {
    if (!(yield* accept(input, "<parameter="))) return null;
    const key = yield* run(input, /[^\s<>"'={}]/);
    if (key === null || !(yield* accept(input, ">"))) return null;
    const value = yield* parameterText(input);
    if (value === null) return null;
    members.set(key, jsonOf(value, schemaOf(tools, name, key)));
  }
  const parts = [...members].map(([key, value]) => `${JSON.stringify(key)}: ${value}`);
  return [{ name, arguments: `{${parts.join(", ")}}` }];
}

/** A value, without the line breaks that set it off: it may hold `</parameter>` where no other tag follows. */
function* parameterText(input: Input): Reading<string> {
  const from = input.at;
  for (;;) {
    if ((yield* until(input, "</parameter>")) === null) return null;
    const end = input.at;
    const isLast = (yield* accept(input, "<parameter=")) || (yield* accept(input, "</function>"));
    input.at = end;
    if (isLast)
      return input.text
        .slice(from, end - "</parameter>".length)
        .replace(/^\n/, "")
        .replace(/\n$/, "");
  }
}

const schemaOf = (tools: readonly Tool[], name: string, key: string): unknown => {
  const parameters = tools.find((tool) => tool.name === name)?.parameters;
  const properties = isObject(parameters) ? parameters.properties : null;
  return isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : null;
};

const isText = (schema: unknown): boolean => {
  if (!isObject(schema)) return true;
  const options = [schema.anyOf, schema.oneOf].find(Array.isArray);
  if (options) return options.some(isText);
  if (Array.isArray(schema.enum)) return schema.enum.some((value) => typeof value === "string");
  return schema.type === undefined || schema.type === "string" || (Array.isArray(schema.type) && schema.type.includes("string"));
};

const jsonOf = (text: string, schema: unknown): string =>
  isText(schema) || parsed(text) === undefined ? JSON.stringify(text) : text.trim();

/** Llama's `{"name", "parameters"}` without a mark: any other object is an answer in JSON. */
export function* bareCall(input: Input): Reading<readonly Call[]> {
  const from = input.at;
  yield* accept(input, "{");
  if (!((yield* accept(input, '"name"')) || (yield* accept(input, '"type"')))) return null;
  input.at = from;
  const json = yield* jsonText(input);
  const calls = json === null ? null : callsOf(json);
  return calls && /"(?:parameters|arguments)"\s*:/.test(json ?? "") ? calls : null;
}

/** Behind `[TOOL_CALLS]`: a list of calls, or `name{..}`, since 2025 `name[ARGS]{..}` and `name[CALL_ID]id[ARGS]{..}`. */
export function* mistralCalls(input: Input): Reading<readonly Call[]> {
  yield* space(input);
  if ((yield* more(input)) && /[[{]/.test(input.text.charAt(input.at))) return yield* jsonCalls(input);
  const name = yield* run(input, /[\w.:/-]/);
  if (name === null) return null;
  if (yield* accept(input, "[CALL_ID]")) yield* run(input, /\w/);
  yield* accept(input, "[ARGS]");
  yield* space(input);
  const json = yield* jsonText(input);
  return json !== null && isObject(parsed(json)) ? [{ name, arguments: json }] : null;
}

/** Objects and lists inside of each other: more is no call. */
const MAX_DEPTH = 64;

/** `call:name{key:value,..}`, texts between two `quote` marks (Gemma 4, FunctionGemma). */
export const gemmaCalls = (quote: string) =>
  function* (input: Input): Reading<readonly Call[]> {
    if (!(yield* accept(input, "call:"))) return null;
    const name = yield* run(input, /[\w.:/-]/);
    if (name === null || !(yield* accept(input, "{"))) return null;
    const written = yield* members(input, quote, 0);
    return written === null ? null : [{ name, arguments: written }];
  };

function* members(input: Input, quote: string, depth: number): Reading<string> {
  const written: string[] = [];
  while (!(yield* accept(input, "}"))) {
    if (written.length > 0 && !(yield* accept(input, ","))) return null;
    const key: string | null = (yield* accept(input, quote)) ? yield* until(input, quote) : yield* run(input, /[^\s:,{}[\]<>]/);
    if (key === null || !(yield* accept(input, ":"))) return null;
    const text: string | null = yield* value(input, quote, depth + 1);
    if (text === null) return null;
    written.push(`${JSON.stringify(key)}: ${text}`);
  }
  return `{${written.join(", ")}}`;
}

function* items(input: Input, quote: string, depth: number): Reading<string> {
  const written: string[] = [];
  while (!(yield* accept(input, "]"))) {
    if (written.length > 0 && !(yield* accept(input, ","))) return null;
    const text: string | null = yield* value(input, quote, depth + 1);
    if (text === null) return null;
    written.push(text);
  }
  return `[${written.join(", ")}]`;
}

/** A value, as JSON. */
function* value(input: Input, quote: string, depth: number): Reading<string> {
  if (depth > MAX_DEPTH) return null;
  if (yield* accept(input, "{")) return yield* members(input, quote, depth);
  if (yield* accept(input, "[")) return yield* items(input, quote, depth);
  if (yield* accept(input, quote)) {
    const text = yield* until(input, quote);
    return text === null ? null : JSON.stringify(text);
  }
  const word = yield* run(input, /[\w.+-]/);
  return word !== null && /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/.test(word) ? word : null;
}
