import type { ToolCall } from "@imprint/contracts";
import { unread } from "../../dropped.js";
import { type AgentPart, type Transcript, transcript } from "../../transcript.js";
import { contentText, resultText } from "../../values/content-text.js";
import { arrayOrEmpty, isObject, isString, type JsonObject, parseJson, stringOrNull } from "../../values/json.js";
import { type Parts, type Result, readParts } from "../../values/message-parts.js";
import { toolCall } from "../../values/tool-calls.js";
import type { Output } from "../format.js";

/** What the datasets of the field call the speakers. */
const SPEAKERS = {
  system: ["system", "developer", "_system_prompt"],
  user: ["user", "human"],
  answer: ["assistant", "gpt", "model", "ai", "bot", "chatgpt"],
  call: ["tool_call", "function_call"],
  result: ["tool", "function", "observation", "tool_response", "tool_result", "function_response", "ipython"],
} as const;

type ChatRole = keyof typeof SPEAKERS;

const ROLES = new Map<unknown, ChatRole>(
  (Object.keys(SPEAKERS) as ChatRole[]).flatMap((role) => SPEAKERS[role].map((name): [string, ChatRole] => [name, role])),
);

const chatRole = (name: unknown): ChatRole | null => ROLES.get(isString(name) ? name.toLowerCase() : name) ?? null;

const LANGCHAIN = new Set<unknown>(["human", "ai", "tool", "system"]);

const spokenBy = ({ role, from, type }: JsonObject): unknown => role ?? from ?? (LANGCHAIN.has(type) ? type : undefined);
const timeOf = ({ timestamp, created }: JsonObject): unknown => timestamp ?? created;
const contentOf = (message: JsonObject): unknown => message.content ?? message.value ?? message.text;

/** Whether this is a message: it names a speaker that is known. */
export const isMessage = (value: unknown): value is JsonObject => isObject(value) && chatRole(spokenBy(value)) !== null;
export const isConversation = (value: unknown): value is readonly JsonObject[] =>
  Array.isArray(value) && value.length > 0 && value.every(isMessage);

/** Whether records are messages themselves, and no agent's items of a `type`, of which the last answers a request. */
export const isExchange = (records: readonly JsonObject[]): boolean =>
  records.every(({ role, type }) => isString(role) && type === undefined) &&
  chatRole(records.at(-1)?.role) === "answer" &&
  records.some(({ role }) => chatRole(role) === "user");

/** The messages behind the system text that stands beside them, where none of them is one. */
export const behindSystem = ({ system }: JsonObject, messages: readonly JsonObject[]): readonly JsonObject[] =>
  system === undefined || messages.some((message) => chatRole(spokenBy(message)) === "system")
    ? messages
    : [{ role: "system", content: system }, ...messages];

/** OpenAI `weight`, LLaMA-Factory v1 `loss_weight`, ms-swift `loss` and `loss_scale`, axolotl `train`. */
const isWeightless = ({ weight, loss_weight, loss_scale, loss, train }: JsonObject): boolean =>
  [weight, loss_weight, loss_scale].includes(0) || loss === false || train === false;

const callsOf = (list: readonly unknown[], index: number): readonly ToolCall[] =>
  list.flatMap((one, at) => toolCall(one, `call-${index}-${at}`) ?? []);

/** What an answer holds; of a call's message the text is JSON of one call or several, or stays text. */
function answerOf(message: JsonObject, said: Parts, { index, isCall }: { index: number; isCall: boolean }): AgentPart {
  const contextOnly = isWeightless(message) ? "weight_zero" : undefined;
  const written = isCall ? callsOf([parseJson(said.text)].flat(), index) : [];
  if (written.length > 0) return { calls: written, contextOnly };
  const calls = callsOf([...arrayOrEmpty(message.tool_calls), ...[message.function_call].filter(isObject)], index);
  const reasoning = contentText(message.reasoning_content ?? message.reasoning ?? message.thinking) || said.reasoning;
  const text = said.text || contentText(message.refusal);
  return { text, reasoning, calls: [...calls, ...said.calls], contextOnly, timestamp: timeOf(message) };
}

/** What a result's message answers as a whole, where it has no parts that do. */
const resultOf = (message: JsonObject): Result => ({
  call_id: null,
  content: resultText(contentOf(message)),
  ...(message.status === "error" && { is_error: true }),
});

/** Takes one conversation's messages in any of the usual dialects, one by one. A call message continues the answer before it. */
export function chat(output: Output): { readonly talk: Transcript; readonly add: (message: JsonObject) => void } {
  const talk = transcript(output.hold);
  let key = "";
  let index = -1;
  const add = (message: JsonObject): void => {
    index += 1;
    const role = chatRole(spokenBy(message));
    const said = readParts(contentOf(message), `call-${index}`);
    for (const reason of said.left) talk.dropped.add(reason);
    const isCall = role === "call";
    if (!isCall || key === "") key = role === "answer" || isCall ? `answer-${index}` : "";
    if (key !== "") talk.answer(answerOf(message, said, { index, isCall }), key);
    const named = stringOrNull(message.tool_call_id ?? arrayOrEmpty(message.tool_call_ids)[0]);
    const results = role === "result" && said.results.length === 0 ? [resultOf(message)] : said.results;
    for (const { call_id, content, isRefused, ...more } of results) {
      const id = call_id ?? named ?? talk.openCalls()[0] ?? `result-${index}`;
      talk.observe({ ...more, call_id: id, content: output.fit(content) }, { idsRepeat: true, isRefused });
    }
    if (role === "system" || role === "user") talk.say(role, said.text, timeOf(message));
    else if (role === null) talk.dropped.add(unread(message.role));
  };
  return { talk, add };
}

/** A conversation from a question and an answer, each a text or a list of messages. */
export function pair(prompt: unknown, completion: unknown): JsonObject[] {
  const side = (value: unknown, role: string): JsonObject[] =>
    isString(value) ? [{ role, content: value }] : arrayOrEmpty(value).filter(isObject);
  return [...side(prompt, "user"), ...side(completion, "assistant")];
}
