import type { Observation, ToolCall } from "@imprint/contracts";
import { unread } from "../dropped.js";
import { contentText, joinBlocks, resultText } from "./content-text.js";
import { arrayOrEmpty, isObject, isString, type JsonObject, objectOrEmpty, objectsOf, parseJson, stringOrNull } from "./json.js";
import { argumentsText, toolCall } from "./tool-calls.js";

/** `call_id` is null where the part names no call. */
export type Result = Observation & { readonly isRefused?: boolean };

/** What the parts of a message hold. */
export interface Parts {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly ToolCall[];
  readonly results: readonly Result[];
  /** Why parts are left out that say none of these. */
  readonly left: readonly string[];
}

const NONE: readonly never[] = [];
const CALL = /^(?:(?:server_|mcp_)?tool_use|tool-call|toolCall|(?:frontendT|t)oolRequest)$/;
const RESULT = /^(?:\w*tool_result|tool-result|toolResponse)$/;
const REFUSED = "rejected-by-user";
const FAILED = new Set<unknown>(["error", "error-text", "error-json", "cancelled", REFUSED]);

function callOf(use: JsonObject, fallbackId: string): ToolCall | null {
  const { value } = objectOrEmpty(use.toolCall); // Goose's
  const call = isObject(value) ? value : use;
  const name = call.name ?? call.toolName;
  const id = stringOrNull(use.id ?? use.toolUseId ?? use.toolCallId) ?? fallbackId;
  return isString(name) ? { id, name, arguments: argumentsText(call.input ?? call.args ?? call.arguments) } : null;
}

const isForModel = ({ annotations }: JsonObject): boolean =>
  arrayOrEmpty(objectOrEmpty(annotations).audience ?? ["assistant"]).includes("assistant");

/** Goose's result as one of those: what a tool says to the person alone is left out. */
function gooseResult({ id, toolResult }: JsonObject): JsonObject {
  const { status, value, error } = objectOrEmpty(toolResult);
  const { content, isError } = isObject(value) ? value : { content: value, isError: false };
  return { toolUseId: id, status, isError, content: status === "error" ? error : objectsOf(content).filter(isForModel) };
}

function resultOf(part: JsonObject): Result {
  const { status, result, error, reason } = objectOrEmpty(part.run);
  const { type, value } = objectOrEmpty(part.output);
  const content = part.content ?? part.value ?? value ?? part.output ?? part.result ?? result ?? error ?? reason;
  const failed = part.is_error === true || part.isError === true || [part.status, status, type].some((one) => FAILED.has(one));
  return {
    call_id: stringOrNull(part.tool_use_id ?? part.toolUseId ?? part.toolUseID ?? part.toolCallId),
    content: resultText(content),
    ...(failed && { is_error: true }),
    ...(status === REFUSED && { isRefused: true }),
  };
}

const THOUGHT = new Set<unknown>(["think", "thinking", "reasoning"]);

const thoughtOf = ({ type, thinking, think, text, value, reasoningContent: block }: JsonObject): string | null => {
  const said = isObject(block) ? objectOrEmpty(block.reasoningText).text : (thinking ?? think ?? text ?? value);
  return THOUGHT.has(type) || isObject(block) ? (stringOrNull(said) ?? "") : null;
};

/**
 * Reads content as text or as parts, in the dialects of OpenAI, Anthropic's Messages, Amazon Bedrock's Converse, the AI SDK, Amp,
 * pi, Goose, Kimi CLI and LLaMA-Factory v1.
 */
export function readParts(content: unknown, fallbackId: string): Parts {
  if (!Array.isArray(content)) return { text: contentText(content), reasoning: "", calls: NONE, results: NONE, left: NONE };
  const said: unknown[] = [];
  const thoughts: string[] = [];
  const calls: ToolCall[] = [];
  const results: Result[] = [];
  const left: string[] = [];
  const addCall = (call: ToolCall | null): unknown => call !== null && calls.push(call);
  for (const part of content) {
    const { type, value, text, toolUse, toolResult } = objectOrEmpty(part);
    const kind = stringOrNull(type) ?? "";
    const thought = isObject(part) ? thoughtOf(part) : null;
    if (!isObject(part)) said.push(part);
    else if (/^tool_calls?$/.test(kind))
      for (const call of [isString(value) ? parseJson(value) : value].flat())
        addCall(toolCall(call, `${fallbackId}-${calls.length}`));
    else if (isObject(toolUse) || CALL.test(kind))
      addCall(callOf(isObject(toolUse) ? toolUse : part, `${fallbackId}-${calls.length}`));
    else if (isObject(toolResult) || RESULT.test(kind))
      results.push(resultOf(kind === "toolResponse" ? gooseResult(part) : isObject(toolResult) ? toolResult : part));
    else if (thought !== null) thoughts.push(thought);
    else if (isString(text) || isString(value) || contentText([part]) !== "") said.push(part);
    else left.push(unread("part", kind));
  }
  return { text: contentText(said), reasoning: joinBlocks(thoughts), calls, results, left };
}
