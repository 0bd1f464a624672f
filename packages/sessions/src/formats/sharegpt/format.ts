import { isString, type JsonObject, objectsOf, stringOrNull } from "../../values/json.js";
import { toolDefinitions } from "../../values/tools.js";
import { rewardVerdict, type Verdict, verdictOf } from "../../values/verdict.js";
import { behindSystem, chat, isConversation } from "../chat-jsonl/messages.js";
import { handOver, type Output, type RecordFormat } from "../format.js";

const SPEAKERS: Readonly<Record<string, string>> = { USER: "human", ASSISTANT: "gpt", "FUNCTION RESPONSE": "observation" };
const TURN = /^(USER|ASSISTANT|FUNCTION RESPONSE):[ \t]*/gm;
const END = "<|endoftext|>";
const CALL = /^<functioncall>\s*([\s\S]*)$/;

function unquoted(call: string): string {
  const opening = /"arguments":\s*'/.exec(call);
  const object = call.trimEnd();
  const quoted = object.endsWith("}") ? object.slice(0, -1).trimEnd() : "";
  if (opening === null || !quoted.endsWith("'") || quoted.length <= opening.index + opening[0].length) return call;
  return `${call.slice(0, opening.index)}"arguments": ${quoted.slice(opening.index + opening[0].length, -1)}}`;
}

/** Glaive writes a call's arguments in single quotes inside its JSON: `{"name": "f", "arguments": '{"a": 1}'}`. */
function turn(speaker: string, text: string): JsonObject {
  const call = CALL.exec(text)?.[1];
  if (speaker !== "ASSISTANT" || call === undefined) return { from: SPEAKERS[speaker], value: text };
  return { from: "function_call", value: unquoted(call) };
}

/** The turns of a Glaive function-calling record, which holds the whole conversation as one text; null for other records. */
function glaiveTurns(record: JsonObject): JsonObject[] | null {
  if (!isString(record.chat) || !/^\s*USER:/.test(record.chat)) return null;
  const { chat } = record;
  const starts = [...chat.matchAll(TURN)];
  const turns = starts.map((start, index) => {
    const text = chat.slice(start.index + start[0].length, starts[index + 1]?.index ?? chat.length);
    return turn(start[1] ?? "", text.replaceAll(END, "").trim());
  });
  const system = isString(record.system) ? record.system.replace(/^SYSTEM:\s*/, "") : "";
  return [{ from: "system", value: system }, ...turns];
}

/** ms-swift keeps each exchange in one object: `{human, assistant}`. */
function exchanges(value: unknown): JsonObject[] | null {
  const list = objectsOf(value);
  if (list.length === 0 || !list.every((one) => isString(one.human) && isString(one.assistant))) return null;
  return list.flatMap((one) => [
    { from: "human", value: one.human },
    { from: "gpt", value: one.assistant },
  ]);
}

function turnsOf(record: JsonObject): readonly JsonObject[] | null {
  const turns = record.conversations ?? record.conversation;
  return isConversation(turns) ? turns : (exchanges(turns) ?? glaiveTurns(record));
}

/** Rows of Harbor's export say in `result` what the verifier gave, or which error ended the trial. */
const harborVerdict = ({ trial_name, result }: JsonObject): Verdict | null =>
  isString(trial_name) && isString(result) ? (rewardVerdict(result) ?? { outcome: "unknown", outcomeSignal: result }) : null;

function readRecord(record: JsonObject, output: Output): void {
  const turns = turnsOf(record);
  if (turns === null) {
    output.badRecord();
    return;
  }
  const { talk, add } = chat(output);
  behindSystem(record, turns).forEach(add);
  const tools = toolDefinitions(record.tools);
  handOver(output, talk, {
    agent: stringOrNull(record.agent),
    model: stringOrNull(record.model),
    tools,
    ...(harborVerdict(record) ?? verdictOf(record)),
  });
}

/** ShareGPT: `conversations` of `from` and `value`, with LLaMA-Factory's tools, and Glaive's one-text records. */
export const shareGpt: RecordFormat = {
  name: "sharegpt",
  sign: "records with `conversations` of `from` and `value`",
  recognises: (record) => turnsOf(record) !== null,
  read: (output) => ({ accept: (record) => readRecord(record, output), finish: () => {} }),
};
