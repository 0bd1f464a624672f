import { draft } from "../../draft.js";
import { DROPPED } from "../../dropped.js";
import { transcript } from "../../transcript.js";
import { joinBlocks } from "../../values/content-text.js";
import { isObject, type JsonObject, objectOrEmpty, scalarText, stringOrNull } from "../../values/json.js";
import type { Output, Reader, RecordFormat } from "../format.js";
import { personText } from "./harness.js";
import { isResponseItem, type ResponseItem, responseItem } from "./item.js";

const ENVELOPES = new Set(["session_meta", "response_item", "event_msg", "turn_context", "compacted"]);
const END_EVENTS = new Set(["task_complete", "turn_aborted"]);

const isLegacyHeader = (record: JsonObject): boolean =>
  record.type === undefined &&
  stringOrNull(record.id) !== null &&
  stringOrNull(record.timestamp) !== null &&
  "instructions" in record;

function codexReader(output: Output): Reader<JsonObject> {
  const talk = transcript(output.hold);
  let meta: JsonObject | undefined;
  let model: string | null = null;
  let signal: string | null = null;
  let turn = 0;
  let isOpen = false;

  const key = (): string => {
    if (!isOpen) turn++;
    isOpen = true;
    return `turn-${turn}`;
  };
  const close = (): void => {
    isOpen = false;
  };

  const addUser = (texts: readonly string[], timestamp: unknown): void => {
    const own = texts.map(personText);
    talk.dropped.add(DROPPED.harness, own.filter((text) => text === null).length);
    talk.say("user", joinBlocks(own.filter((text) => text !== null)), timestamp);
  };

  const addItem = (item: ResponseItem, timestamp: unknown): void => {
    if (item.kind === "message" && item.role === "assistant") talk.answer({ text: joinBlocks(item.texts), timestamp }, key());
    else if (item.kind === "message") {
      close();
      if (item.role === "user") addUser(item.texts, timestamp);
      else talk.dropped.add(DROPPED.harness);
    } else if (item.kind === "reasoning") talk.answer({ reasoning: item.text, timestamp }, key());
    else if (item.kind === "call") talk.answer({ calls: [item.call], timestamp }, key());
    else if (item.kind === "provider-call") talk.dropped.add(DROPPED.providerCall);
    else if (item.kind === "result") {
      close();
      talk.observe({ ...item.result, content: output.fit(item.result.content) });
    }
  };

  const addEvent = (event: JsonObject): void => {
    const type = scalarText(event.type);
    if (END_EVENTS.has(type)) signal = type;
    else if (type === "task_started") signal = null;
    else if (type === "thread_rolled_back" && typeof event.num_turns === "number") talk.rollBack(event.num_turns);
  };

  const acceptEnvelope = (record: JsonObject): void => {
    const { payload, timestamp } = record;
    if (!isObject(payload)) output.badRecord();
    else if (record.type === "session_meta") meta ??= payload;
    else if (record.type === "turn_context") model = stringOrNull(payload.model) ?? model;
    else if (record.type === "compacted") talk.dropped.add(DROPPED.compactSummary);
    else if (record.type === "event_msg") addEvent(payload);
    else addItem(responseItem(payload), timestamp);
  };

  return {
    accept: (record) => {
      if (ENVELOPES.has(scalarText(record.type))) acceptEnvelope(record);
      else if (isLegacyHeader(record)) meta ??= record;
      else if (isResponseItem(record)) addItem(responseItem(record), record.timestamp);
    },
    finish: () => {
      const head = objectOrEmpty(meta);
      output.conversation(
        draft({
          id: stringOrNull(head.id),
          formatVersion: stringOrNull(head.cli_version),
          agent: "codex",
          model,
          outcomeSignal: signal,
          steps: talk.steps(),
          dropped: talk.dropped.entries(),
        }),
      );
    },
  };
}

/** Codex CLI rollouts: lines in an envelope `{timestamp, type, payload}`, and the bare lines of its first builds. */
export const codex: RecordFormat = {
  name: "codex",
  sign: "lines `{timestamp, type, payload}` of type `session_meta` or `response_item`",
  recognises: (record) =>
    (ENVELOPES.has(scalarText(record.type)) && isObject(record.payload)) ||
    isLegacyHeader(record) ||
    record.record_type === "state" ||
    // Other tools keep reasoning in the same shape, so that alone shows nothing.
    (isResponseItem(record) && record.type !== "reasoning"),
  read: codexReader,
};
