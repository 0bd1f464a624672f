import type { Observation, ToolCall } from "@imprint/contracts";
import { DROPPED, unread } from "../../dropped.js";
import { type Tally, tally } from "../../tally.js";
import { type Transcript, transcript } from "../../transcript.js";
import { geminiParts } from "../../values/gemini-parts.js";
import { isObject, isString, type JsonObject, objectOrEmpty, objectsOf, scalarText, stringOrNull } from "../../values/json.js";
import { digest } from "../../values/recorded-once.js";
import { toolCall } from "../../values/tool-calls.js";
import { handOver, type Output, type Reader, type RecordFormat } from "../format.js";
import { isHarness, isShell } from "./harness.js";

const isContent = (value: unknown): boolean =>
  isObject(value) && (value.role === "user" || value.role === "model") && Array.isArray(value.parts);

/** The history of a saved checkpoint: contents of the Gemini API, bare or beside what the screen showed. */
function contentsOf(record: JsonObject): readonly JsonObject[] | null {
  const lists = [record.messages, record.clientHistory, record.history];
  const found = lists.find((list) => Array.isArray(list) && list.length > 0 && list.every(isContent));
  return found === undefined ? null : objectsOf(found);
}

function readContents(contents: readonly JsonObject[], output: Output): void {
  const talk = transcript(output.hold);
  let key = "";
  /** The model's word to the harness is the harness's too. */
  let isSetUp = false;
  contents.forEach((content, index) => {
    const { text, reasoning, calls, results } = geminiParts(content.parts, `call-${index}`);
    if (content.role === "model") {
      if (isSetUp && calls.length === 0) talk.dropped.add(DROPPED.harness);
      else talk.answer({ text, reasoning, calls }, key || `answer-${index}`);
      key ||= isSetUp ? "" : `answer-${index}`;
    } else {
      key = "";
      for (const result of results) {
        const call_id = result.call_id ?? talk.openCalls()[0] ?? `result-${index}`;
        talk.observe({ ...result, call_id, content: output.fit(result.content) });
      }
      if (isHarness(text)) talk.dropped.add(DROPPED.harness);
      else talk.say("user", text);
    }
    isSetUp = content.role === "user" && isHarness(text);
  });
  handOver(output, talk, { agent: "gemini-cli" });
}

/** What the tool writes in the place of the turns that it summarised. */
const SUMMARY = "<state_snapshot>";

/** One message with only what the session needs of it, and the results of its tool calls, each in the place of its call. */
interface Message {
  readonly id: string;
  readonly record: JsonObject;
  readonly results: readonly (Observation | null)[];
}

/** The messages of a recording as they stand after all that the tool appended, corrected and took back. */
interface Messages {
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

function messages(output: Output): Messages {
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
    byKey.set(key, { id: scalarText(record.id), record: { type, content, thoughts, model, timestamp, toolCalls }, results });
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

/** What the model's messages are called; Qwen Code wrote the same files at first. */
const ANSWER = new Set(["gemini", "qwen"]);
const SLASH_COMMAND = /^[/?][\w-]*(?:\s|$)/;

interface Recorded {
  readonly call: ToolCall;
  readonly result: Observation | null;
}

/** Whether a call is one that was written down before, and not another of the same id. */
const isAgain = (earlier: Recorded, { call, result }: Recorded): boolean =>
  earlier.call.name === call.name &&
  earlier.call.arguments === call.arguments &&
  (result === null || earlier.result?.content === result.content);

/** What was seen of the calls so far: the tool writes both them and their results down twice. */
interface Seen {
  readonly calls: Map<string, Recorded>;
  readonly results: Set<string | null>;
}

function addUser(talk: Transcript, { record }: Message, seen: Seen, isAnswered: boolean): void {
  const { text, results } = geminiParts(record.content, "");
  for (const result of results) if (!seen.results.has(result.call_id)) talk.observe(result);
  if (text.trim() === "") return;
  if (isHarness(text)) talk.dropped.add(DROPPED.harness);
  else if (SLASH_COMMAND.test(text.trim()) && !isAnswered) talk.dropped.add(DROPPED.localCommand);
  else if (isShell(text) && !isAnswered) talk.ran(text);
  else talk.say("user", text, record.timestamp);
}

const thought = ({ subject, description }: JsonObject): string =>
  [isString(subject) && subject !== "" ? `**${subject}**` : "", scalarText(description)].filter((text) => text !== "").join("\n");

function addAnswer(talk: Transcript, { record, results }: Message, index: number, seen: Seen): void {
  const content = geminiParts(record.content, `call-${index}`);
  const recorded = objectsOf(record.toolCalls).flatMap((call, at) => {
    const made = toolCall({ ...call, arguments: call.args }, `call-${index}-${at}`);
    return made === null ? [] : [{ call: made, result: results[at] ?? null }];
  });
  // The content names the same calls again where the tool recorded its whole history.
  const named = recorded.length > 0 ? recorded : content.calls.map((call) => ({ call, result: null }));
  const own = named.filter(({ call, result }) => {
    const earlier = seen.calls.get(call.id);
    return earlier === undefined || !isAgain(earlier, { call, result });
  });
  talk.dropped.add(DROPPED.repeatedCall, named.length - own.length);
  for (const one of own) seen.calls.set(one.call.id, one);
  const thoughts = objectsOf(record.thoughts).map(thought).join("\n\n");
  const calls = own.map(({ call }) => call);
  const ids = talk.answer({ text: content.text, reasoning: thoughts || content.reasoning, calls, timestamp: record.timestamp });
  own.forEach(({ call, result }, at) => {
    if (result === null) return;
    seen.results.add(call.id);
    talk.observe({ ...result, call_id: ids[at] ?? null });
  });
}

function geminiReader(output: Output): Reader<JsonObject> {
  const log = messages(output);
  let id: string | null = null;
  let isChat = false;

  return {
    accept: (record) => {
      const contents = contentsOf(record);
      if (contents !== null) {
        readContents(contents, output);
        return;
      }
      isChat = true;
      id ??= stringOrNull(record.sessionId);
      log.accept(record);
    },
    finish: () => {
      if (!isChat) return;
      const talk = transcript();
      const seen: Seen = { calls: new Map(), results: new Set() };
      const list = log.list();
      list.forEach((message, index) => {
        const { type } = message.record;
        if (type === "user") addUser(talk, message, seen, ANSWER.has(scalarText(list[index + 1]?.record.type)));
        else if (ANSWER.has(scalarText(type))) addAnswer(talk, message, index, seen);
        else talk.dropped.add(DROPPED.environment);
      });
      for (const [reason, count] of log.dropped.entries()) talk.dropped.add(reason, count);
      handOver(output, talk, {
        id,
        agent: list.some(({ record }) => record.type === "qwen") ? "qwen-code" : "gemini-cli",
        model: stringOrNull(list.findLast(({ record }) => isString(record.model))?.record.model),
      });
    },
  };
}

const isMessage = (record: JsonObject): boolean =>
  isString(record.id) && ANSWER.has(scalarText(record.type)) && record.content !== undefined && isString(record.timestamp);

/** Gemini CLI: ~/.gemini/tmp/<project>/chats/session-*.json (one document) and .jsonl (appended), and saved checkpoints. */
export const geminiCli: RecordFormat = {
  name: "gemini-cli",
  sign: "`sessionId` and `projectHash` with messages of type `gemini`, or contents of `role` and `parts`",
  recognises: (record) =>
    (isString(record.sessionId) && isString(record.projectHash)) ||
    isMessage(record) ||
    isString(record.$rewindTo) ||
    (isObject(record.$set) && Object.keys(record).length === 1) ||
    contentsOf(record) !== null,
  read: geminiReader,
};
