import { isString, type JsonObject } from "../../values/json.js";

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
export function glaiveTurns(record: JsonObject): JsonObject[] | null {
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
