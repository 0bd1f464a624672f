import type { ToolCall } from "@imprint/contracts";
import { isObject, isString, toJson } from "./json.js";

/** Arguments as text: what the model wrote, or the JSON of a decoded value. */
export const argumentsText = (value: unknown): string => (isString(value) ? value : toJson(value ?? {}));

/** A call in the OpenAI shape `{id, function: {name, arguments}}` or flat `{id, name, arguments}`; null when it names no tool. */
export function toolCall(value: unknown, fallbackId: string): ToolCall | null {
  if (!isObject(value)) return null;
  const body = isObject(value.function) ? value.function : value;
  const name = body.name ?? value.name;
  if (!isString(name)) return null;
  const id = isString(value.id) && value.id !== "" ? value.id : fallbackId;
  return { id, name, arguments: argumentsText(body.arguments ?? body.args ?? body.parameters) };
}
