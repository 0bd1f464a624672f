import { isObject } from "@imprint/contracts";
import { type Input, more, type Reading } from "./input.js";

/** `arguments` is the text that the model wrote: JSON, or free text where it wrote a JSON string. */
export interface Call {
  readonly name: string;
  readonly arguments: string;
}

/** A tool that may be called; `parameters` is its JSON Schema. */
export interface Tool {
  readonly name: string;
  readonly parameters?: unknown;
}

/** Null where they are neither an object nor text. */
export const argumentsOf = (json: string | undefined): string | null => {
  const value = json === undefined ? null : parsed(json);
  if (typeof value === "string") return value;
  if (value === null) return "{}";
  return isObject(value) && json !== undefined ? json : null;
};

/** `{"name", "arguments"}`, Llama's `{"name", "parameters"}`, or either as the `function` of an object. Null where it is none. */
const callOf = (json: string): Call | null => {
  if (!isObject(parsed(json))) return null;
  const outer = partsOf(json);
  const inner = outer.get("function");
  const parts = inner?.startsWith("{") ? partsOf(inner) : outer;
  const name = parsed(parts.get("name") ?? "null");
  const written = argumentsOf(parts.get("arguments") ?? parts.get("parameters"));
  return typeof name === "string" && name !== "" && written !== null ? { name, arguments: written } : null;
};

/** The calls of a JSON object, or of a list of them. Null where one is none. */
export const callsOf = (json: string): readonly Call[] | null => {
  const isList = json.trimStart().startsWith("[");
  if (isList && parsed(json) === undefined) return null;
  const calls = (isList ? [...partsOf(json).values()] : [json]).map(callOf);
  return calls.length > 0 && calls.every((call) => call !== null) ? calls : null;
};

const OUTSIDE_STRINGS = /[\s\d,:+\-.eEtrufalsn]/;
const CLOSED_BY: Readonly<Record<string, string>> = { "{": "}", "[": "]" };

/** The text of a JSON object, list or string: found by its brackets, so that it ends where it ends, and no later than it must. */
export function* jsonText(input: Input): Reading<string> {
  const from = input.at;
  const open: string[] = [];
  for (let inString = false; ; ) {
    if (!(yield* more(input))) return null;
    const character = input.text.charAt(input.at);
    const closing = CLOSED_BY[character];
    input.at += 1;
    if (inString) {
      if (character < " ") return null;
      if (character === '"') {
        inString = false;
        if (open.length === 0) return input.text.slice(from, input.at);
      } else if (character === "\\") {
        if (!(yield* more(input))) return null;
        input.at += 1;
      }
    } else if (closing) open.push(closing);
    else if (character === "}" || character === "]") {
      if (open.pop() !== character) return null;
      if (open.length === 0) return input.text.slice(from, input.at);
    } else if (character === '"') inString = true;
    else if (open.length === 0) return null;
    else if (!OUTSIDE_STRINGS.test(character)) return null;
  }
}

/** The value that a text says; undefined where it is no JSON. */
export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const TOKEN = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** The texts that the members of an object, or the items of a list, are written with. `json` is valid. */
const partsOf = (json: string): ReadonlyMap<string, string> => {
  const parts = new Map<string, string>();
  let depth = 0;
  let key: string | null = null;
  let start: number | null = null;
  for (const { 0: token, index } of json.matchAll(TOKEN)) {
    const closes = token === "}" || token === "]";
    if (depth === 0) key = token === "[" ? "0" : null;
    else if (depth === 1 && (token === "," || closes)) {
      if (key !== null && start !== null) parts.set(key, json.slice(start, index).trimEnd());
      key = token === "," && json.trimStart().startsWith("[") ? String(parts.size) : null;
      start = null;
    } else if (depth === 1 && key === null) key = JSON.parse(token) as string;
    else if (token !== ":") start ??= index;
    depth += token === "{" || token === "[" ? 1 : closes ? -1 : 0;
  }
  return parts;
};
