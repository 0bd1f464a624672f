import type { Observation } from "@imprint/contracts";
import { DROPPED, unread } from "../../dropped.js";
import { type Tally, tally } from "../../tally.js";
import { geminiParts } from "../../values/gemini-parts.js";
import { isObject, isString, type JsonObject, objectOrEmpty, objectsOf, scalarText, stringOrNull } from "../../values/json.js";
import { digest } from "../../values/recorded-once.js";
import type { Output } from "../format.js";

/** What the tool writes in the place of the turns that it summarised. */
const SUMMARY = "<state_snapshot>";

/** One message with only what the session needs of it, and the results of its tool calls, each in the place of its call. */
export interface Message {
  readonly id: string;
  readonly record: JsonObject;
  readonly results: readonly (Observation | null)[];
}

/** The messages of a recording as they stand after all that the tool appended, corrected and took back. */
export interface Messages {
  readonly dropped: Tally;
  accept(record: JsonObject): void;
  list(): readonly Message[];
}

/** What is written down again, corrected or with results, keeps its kind and time; ids alone can repeat. */
const keyOf = ({ id, type, timestamp }: JsonObject): string | null =>
  stringOrNull(id) === null ? null : [id, type, timestamp].map(scalarText).join(" ");

const textOf = (record: JsonObject): string => geminiParts(record.content, "").text;

function callResult(call: JsonObject): Pick<Observation, "content" | "is_error"> | null {
  if (call.result === undefined || call.result === null)
    return isString(call.resultDisplay) && call.resultDisplay !== "" ? { content: call.resultDisplay } : null;
  const { results, text } = geminiParts(call.result, "");
  const [first] = results;
  return first === undefined ? { content: text } : { ...first, content: first.content + text };
}

export function messages(output: Output): Messages {
  const dropped = tally();
  let byKey = new Map<string, Message>();
  const known = new Map<string, Observation>();

  /** A result is read once, since only so much of all outputs is kept. */
  const resultOf = (call: JsonObject): Observation | null => {
    const id = stringOrNull(call.id);
    const key = digest([id, call.name, call.args, call.result ?? call.resultDisplay]);
    const earlier = known.get(key);
    if (earlier !== undefined) return earlier;
    const result = callResult(call);
    if (result === null) return null;
    const failed = result.is_error === true || call.status === "error" || call.status === "cancelled";
    const observation = { call_id: id, content: output.fit(result.content), ...(failed ? { is_error: true } : {}) };
    known.set(key, observation);
    return observation;
  };

  const accept = (record: JsonObject): void => {
    const key = keyOf(record) ?? `message-${byKey.size}`;
    const results = objectsOf(record.toolCalls).map(resultOf);
    if (!byKey.has(key)) output.hold(textOf(record).length);
    const toolCalls = objectsOf(record.toolCalls).map(({ id: call, name, args }) => ({ id: call, name, args }));
    const { type, content, thoughts, model, timestamp } = record;
    byKey.set(key, {
      id: scalarText(record.id),
      record: { type, content, thoughts, model, timestamp, toolCalls },
      results,
    });
  };

  const keepFirst = (count: number): void => {
    byKey = new Map([...byKey].slice(0, count));
  };

  /** The tool's own history as a whole: what is missing in it was taken back, unless it was summarised. */
  const checkpoint = (history: readonly JsonObject[]): void => {
    const keys = new Set(history.map(keyOf));
    const summary = history.find((message) => textOf(message).includes(SUMMARY));
    if (summary !== undefined) {
      // Behind the summary stands what was kept of the turns, written once more.
      const from = [...byKey.keys()].indexOf(keyOf(summary) ?? "");
      if (from >= 0) keepFirst(from);
      dropped.add(DROPPED.compactSummary);
      return;
    }
    const left = [...byKey.keys()].filter((key) => !keys.has(key));
    dropped.add(DROPPED.abandoned, left.length);
    for (const key of left) byKey.delete(key);
    for (const message of history) if (!byKey.has(keyOf(message) ?? "")) accept(message);
  };

  const rewind = (id: string): void => {
    const at = Math.max(
      0,
      [...byKey.values()].findIndex((message) => message.id === id),
    );
    dropped.add(DROPPED.abandoned, byKey.size - at);
    keepFirst(at);
  };

  return {
    dropped,
    accept: (record) => {
      const changes = objectOrEmpty(record.$set);
      if (isString(record.$rewindTo)) rewind(record.$rewindTo);
      else if (Array.isArray(changes.messages)) checkpoint(objectsOf(changes.messages));
      else if (Array.isArray(record.messages)) for (const message of objectsOf(record.messages)) accept(message);
      else if (isString(record.type) && record.content !== undefined) {
        if (byKey.has(keyOf(record) ?? "")) dropped.add(DROPPED.duplicate);
        accept(record);
      } else if (!isString(record.projectHash)) dropped.add(unread(isObject(record.$set) ? "set" : record.type));
    },
    list: () => [...byKey.values()],
  };
}
