import type { Observation, ToolCall } from "@imprint/contracts";
import { contentText, joinBlocks, resultText } from "../../values/content-text.js";
import { isObject, isString, type JsonObject, objectsOf, parseJson, scalarText, stringOrNull } from "../../values/json.js";
import { argumentsText } from "../../values/tool-calls.js";

/** One item of the OpenAI Responses API, as far as a session needs it. */
export type ResponseItem =
  | { readonly kind: "message"; readonly role: string; readonly texts: readonly string[] }
  | { readonly kind: "reasoning"; readonly text: string }
  | { readonly kind: "call"; readonly call: ToolCall }
  | { readonly kind: "result"; readonly result: Observation }
  | { readonly kind: "provider-call" }
  /** What another agent said to this one. */
  | { readonly kind: "agent-message"; readonly text: string }
  | { readonly kind: "other" };

/** Calls that the provider runs itself: no result comes back into the log. */
const PROVIDER_CALL = /^(?:web_search|file_search|code_interpreter|image_generation|mcp)_call$/;
const EXIT_CODE = /^(?:Process exited with code|Exit code:) (-?\d+)/m;

function messageTexts(content: unknown): string[] {
  return isString(content) ? [content] : objectsOf(content).map(contentText);
}

function reasoningText(item: JsonObject): string {
  const summary = joinBlocks(objectsOf(item.summary).map(contentText));
  return summary === "" ? contentText(item.content) : summary;
}

function callOf(item: JsonObject): ResponseItem {
  const id = stringOrNull(item.call_id) ?? stringOrNull(item.id);
  if (id === null) return { kind: "other" };
  const name = stringOrNull(item.name) ?? scalarText(item.type).replace(/_call$/, "");
  return { kind: "call", call: { id, name, arguments: argumentsText(item.arguments ?? item.input ?? item.action) } };
}

/** Older builds wrap the output as JSON text `{"output", "metadata": {"exit_code"}}`, newer ones begin it with the exit code. */
function resultOf(item: JsonObject): ResponseItem {
  const raw = isObject(item.output) && item.output.content !== undefined ? item.output.content : item.output;
  const wrapped = isString(raw) && raw.startsWith('{"output"') ? parseJson(raw) : undefined;
  const content = isObject(wrapped) && isString(wrapped.output) ? wrapped.output : resultText(raw);
  const metadata = isObject(wrapped) && isObject(wrapped.metadata) ? wrapped.metadata : {};
  const exit =
    typeof metadata.exit_code === "number" ? metadata.exit_code : Number(EXIT_CODE.exec(content.slice(0, 300))?.[1] ?? 0);
  const failed = exit !== 0 || (isObject(item.output) && item.output.success === false);
  return { kind: "result", result: { call_id: stringOrNull(item.call_id), content, ...(failed ? { is_error: true } : {}) } };
}

/** What another agent said, where a build writes it down as an answer of this one: JSON text that names both; null for any other answer. */
function letterOf(texts: readonly string[]): string | null {
  const [text = ""] = texts;
  const letter = texts.length === 1 && text.startsWith('{"author"') ? parseJson(text) : undefined;
  const isLetter = isObject(letter) && isString(letter.recipient) && isString(letter.content) && "trigger_turn" in letter;
  return isLetter ? scalarText(letter.content) : null;
}

export function responseItem(item: JsonObject): ResponseItem {
  const type = scalarText(item.type);
  if (type === "message" && isString(item.role)) {
    const texts = messageTexts(item.content);
    const letter = item.role === "assistant" ? letterOf(texts) : null;
    return letter === null ? { kind: "message", role: item.role, texts } : { kind: "agent-message", text: letter };
  }
  if (type === "reasoning") return { kind: "reasoning", text: reasoningText(item) };
  if (type === "agent_message") return { kind: "agent-message", text: contentText(item.content) };
  if (PROVIDER_CALL.test(type)) return { kind: "provider-call" };
  if (type.endsWith("_output")) return resultOf(item);
  return type.endsWith("_call") ? callOf(item) : { kind: "other" };
}

/** Whether an object is such an item, where no envelope says so. */
export const isResponseItem = (value: JsonObject): boolean =>
  (value.type === "message" &&
    isString(value.role) &&
    objectsOf(value.content).some((part) => /^(?:input|output)_text$/.test(scalarText(part.type)))) ||
  (value.type === "reasoning" && Array.isArray(value.summary)) ||
  (/^(?:function|custom_tool|local_shell)_call(?:_output)?$/.test(scalarText(value.type)) && isString(value.call_id));
