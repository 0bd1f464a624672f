import { isObject } from "@imprint/contracts";
import { parsed, partsOf } from "./json.js";

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

const argumentsOf = (json: string | undefined): string | null => {
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
