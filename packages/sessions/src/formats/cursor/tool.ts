import type { Observation, ToolCall } from "@imprint/contracts";
import { isObject, isString, type JsonObject, objectOrEmpty, parseJson, stringOrNull, toJson } from "../../values/json.js";

/** What Cursor keeps of a call beside its bubble. */
export interface CursorTool {
  /** Null where the arguments are not kept. */
  readonly call: ToolCall | null;
  /** `content` is null where the result is not kept. */
  readonly result: Omit<Observation, "content"> & { readonly content: string | null };
  readonly isRefused: boolean;
}

/** Arguments as the model wrote them, or as Cursor understood them. */
function argumentsOf({ rawArgs, params }: JsonObject): string | null {
  for (const value of [rawArgs, params]) {
    if (isObject(value)) return toJson(value);
    if (isString(value) && value.trim() !== "" && value.trim() !== "{}") return value;
  }
  // A tool without arguments; one that has some and lost them keeps neither field.
  return isString(rawArgs) && rawArgs.trim() === "{}" ? "{}" : null;
}

/** A result is JSON of each tool's own shape: the text in it where it holds one text. */
function resultText(result: unknown, value: unknown): string | null {
  if (!isObject(value)) return stringOrNull(result);
  const text = [value.contents, value.output, value.content].find(isString);
  return text ?? (Object.keys(value).length === 0 ? null : isString(result) ? result : toJson(value));
}

function errorText(error: unknown): string | null {
  const value = isString(error) ? (parseJson(error) ?? error) : error;
  if (!isObject(value)) return stringOrNull(value);
  const said = [value.modelVisibleErrorMessage, value.clientVisibleErrorMessage, value.message].find(isString);
  return said ?? (Object.keys(value).length === 0 ? null : toJson(value));
}

export function cursorTool(data: JsonObject, bubbleId: string): CursorTool {
  const { name, toolCallId, status, userDecision, additionalData } = data;
  const written = argumentsOf(data);
  const id = stringOrNull(toolCallId) ?? bubbleId;
  const states = [status, userDecision, objectOrEmpty(additionalData).status];
  const value = isString(data.result) ? parseJson(data.result) : data.result;
  const isRefused = states.includes("rejected") || objectOrEmpty(value).rejected === true;
  const failed = isRefused || states.includes("error") || states.includes("cancelled");
  return {
    call: isString(name) && name !== "" && written !== null ? { id, name, arguments: written } : null,
    result: { call_id: id, content: resultText(data.result, value) ?? errorText(data.error), ...(failed && { is_error: true }) },
    isRefused,
  };
}
