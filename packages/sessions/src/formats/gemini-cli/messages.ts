import type { Observation } from "@imprint/contracts";
import { DROPPED } from "../../dropped.js";
import { type Tally, tally } from "../../tally.js";
import { geminiParts } from "../../values/gemini-parts.js";
import { isString, type JsonObject, objectOrEmpty, objectsOf, scalarText, stringOrNull } from "../../values/json.js";
import type { Output } from "../format.js";

/** What the tool writes in the place of the turns that it summarised. */
const SUMMARY = "<state_snapshot>";

/** One message with only what the session needs of it, and its tools' results, which are never read twice. */
export interface Message {
  readonly record: JsonObject;
  readonly results: readonly Observation[];
}

/** The messages of a recording as they stand after all that the tool appended, corrected and took back. */
export interface Messages {
  readonly dropped: Tally;
  accept(record: JsonObject): void;
  list(): readonly Message[];
}

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
  let byId = new Map<string, Message>();
  const known = new Map<string, Observation>();

  const resultOf = (call: JsonObject): Observation | null => {
    const id = stringOrNull(call.id);
    const earlier = id === null ? undefined : known.get(id);
    if (earlier !== undefined) return earlier;
    const result = callResult(call);
    if (result === null) return null;
    const failed = result.is_error === true || call.status === "error" || call.status === "cancelled";
    const observation = { call_id: id, content: output.fit(result.content), ...(failed ? { is_error: true } : {}) };
    if (id !== null) known.set(id, observation);
    return observation;
  };

  const accept = (record: JsonObject): void => {
    const id = stringOrNull(record.id) ?? `message-${byId.size}`;
    const results = objectsOf(record.toolCalls).map(resultOf);
    if (!byId.has(id)) output.hold(textOf(record).length);
    const toolCalls = objectsOf(record.toolCalls).map(({ id: call, name, args }) => ({ id: call, name, args }));
    const { type, content, thoughts, model, timestamp } = record;
    byId.set(id, {
      record: { type, content, thoughts, model, timestamp, toolCalls },
      results: results.filter((result) => result !== null),
    });
  };

  const keepFirst = (count: number): void => {
    byId = new Map([...byId].slice(0, count));
  };

  /** The tool's own history as a whole: what is missing in it was taken back, unless it was summarised. */
  const checkpoint = (history: readonly JsonObject[]): void => {
    const ids = new Set(history.map((message) => scalarText(message.id)));
    const summary = history.find((message) => textOf(message).includes(SUMMARY));
    if (summary !== undefined) {
      // Behind the summary stands what was kept of the turns, written once more.
      const from = [...byId.keys()].indexOf(scalarText(summary.id));
      if (from >= 0) keepFirst(from);
      dropped.add(DROPPED.compactSummary);
      return;
    }
    const left = [...byId.keys()].filter((id) => !ids.has(id));
    dropped.add(DROPPED.abandoned, left.length);
    for (const id of left) byId.delete(id);
    for (const message of history) if (!byId.has(scalarText(message.id))) accept(message);
  };

  const rewind = (id: string): void => {
    const at = Math.max(0, [...byId.keys()].indexOf(id));
    dropped.add(DROPPED.abandoned, byId.size - at);
    keepFirst(at);
  };

  return {
    dropped,
    accept: (record) => {
      const changes = objectOrEmpty(record.$set);
      if (isString(record.$rewindTo)) rewind(record.$rewindTo);
      else if (Array.isArray(changes.messages)) checkpoint(objectsOf(changes.messages));
      else if (Array.isArray(record.messages)) for (const message of objectsOf(record.messages)) accept(message);
      else if (isString(record.type) && record.content !== undefined) accept(record);
    },
    list: () => [...byId.values()],
  };
}
