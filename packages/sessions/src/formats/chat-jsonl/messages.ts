import type { ToolCall } from "@imprint/contracts";
import { unread } from "../../dropped.js";
import { type Transcript, transcript } from "../../transcript.js";
import { contentText, joinBlocks, resultText } from "../../values/content-text.js";
import { arrayOrEmpty, isObject, isString, type JsonObject, objectsOf, parseJson, stringOrNull } from "../../values/json.js";
import { toolCall } from "../../values/tool-calls.js";
import type { Output } from "../format.js";

type ChatRole = "system" | "user" | "answer" | "call" | "result";

/** What the datasets of the field call the speakers. */
const ROLES: Readonly<Record<string, ChatRole>> = {
  system: "system",
  developer: "system",
  user: "user",
  human: "user",
  assistant: "answer",
  gpt: "answer",
  model: "answer",
  ai: "answer",
  bot: "answer",
  chatgpt: "answer",
  tool_call: "call",
  function_call: "call",
  tool: "result",
  function: "result",
  observation: "result",
  tool_response: "result",
  tool_result: "result",
  function_response: "result",
  ipython: "result",
};

const chatRole = (name: unknown): ChatRole | null => {
  if (!isString(name)) return null;
  const role = name.toLowerCase();
  return Object.hasOwn(ROLES, role) ? (ROLES[role] ?? null) : null;
};

const spokenBy = (message: JsonObject): unknown => message.role ?? message.from;
const contentOf = (message: JsonObject): unknown => message.content ?? message.value ?? message.text;

/** Whether these are messages of a conversation: every one names a speaker that is known. */
export const isConversation = (value: unknown): value is readonly JsonObject[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => isObject(item) && chatRole(spokenBy(item)) !== null);

/** The parts of one type in LLaMA-Factory v1's content: `{type, value}`, whose value is text. */
const partsOf = (message: JsonObject, ...types: readonly string[]): readonly JsonObject[] =>
  objectsOf(contentOf(message)).filter((part) => part.value !== undefined && types.some((type) => type === part.type));

/** OpenAI `weight`, LLaMA-Factory v1 `loss_weight`, ms-swift `loss` and `loss_scale`, axolotl `train`. */
const isWeightless = (message: JsonObject): boolean =>
  message.weight === 0 ||
  message.loss_weight === 0 ||
  message.loss === false ||
  message.loss_scale === 0 ||
  message.train === false;

/** Calls of a message whose whole text is JSON: one call or a list of them; empty when it is none. */
function writtenCalls(text: string, index: number): ToolCall[] {
  const value = parseJson(text);
  const list = Array.isArray(value) ? value : [value];
  return list.map((one, at) => toolCall(one, `call-${index}-${at}`)).filter((call) => call !== null);
}

function calls(message: JsonObject, index: number): ToolCall[] {
  const legacy = isObject(message.function_call) ? [message.function_call] : [];
  const parts = partsOf(message, "tool_call", "tool_calls").flatMap(({ value }) => (isString(value) ? parseJson(value) : value));
  const list = [...arrayOrEmpty(message.tool_calls), ...legacy, ...parts];
  return list.map((call, at) => toolCall(call, `call-${index}-${at}`)).filter((call) => call !== null);
}

function addAnswer(talk: Transcript, message: JsonObject, index: number, key: string): void {
  const text = contentText(contentOf(message)) || contentText(message.refusal);
  const apart = contentText(message.reasoning_content ?? message.reasoning ?? message.thinking);
  const reasoning = apart || joinBlocks(partsOf(message, "reasoning").flatMap(({ value }) => (isString(value) ? value : [])));
  talk.answer(
    { text, reasoning, calls: calls(message, index), contextOnly: isWeightless(message) ? "weight_zero" : undefined },
    key,
  );
}

function addCall(talk: Transcript, message: JsonObject, index: number, key: string): void {
  const text = contentText(contentOf(message));
  const written = writtenCalls(text, index);
  const contextOnly = isWeightless(message) ? "weight_zero" : undefined;
  talk.answer(written.length === 0 ? { text, contextOnly } : { calls: written, contextOnly }, key);
}

/** One conversation's messages in any of the usual dialects. A call message continues the answer before it. */
export function conversation(messages: readonly JsonObject[], output: Output): Transcript {
  const talk = transcript(output.hold);
  let key = "";
  messages.forEach((message, index) => {
    const role = chatRole(spokenBy(message));
    if (role === "system" || role === "user") talk.say(role, contentText(contentOf(message)));
    else if (role === "answer") {
      key = `answer-${index}`;
      addAnswer(talk, message, index, key);
    } else if (role === "call") {
      key ||= `answer-${index}`;
      addCall(talk, message, index, key);
    } else if (role === "result") {
      const parts = partsOf(message, "tool_result").map(({ value }) => value);
      for (const content of parts.length > 1 ? parts : [contentOf(message)]) {
        const call_id =
          stringOrNull(message.tool_call_id ?? arrayOrEmpty(message.tool_call_ids)[0]) ??
          talk.openCalls()[0] ??
          `result-${index}`;
        talk.observe({ call_id, content: output.fit(resultText(content)) }, { idsRepeat: true });
      }
    } else talk.dropped.add(unread("message", spokenBy(message)));
    if (role !== "answer" && role !== "call") key = "";
  });
  return talk;
}

/** A conversation from a question and an answer, each a text or a list of messages. */
export function pair(prompt: unknown, completion: unknown): JsonObject[] {
  const side = (value: unknown, role: string): JsonObject[] =>
    isString(value) ? [{ role, content: value }] : arrayOrEmpty(value).filter(isObject);
  return [...side(prompt, "user"), ...side(completion, "assistant")];
}
