import { DROPPED, unread } from "../../dropped.js";
import { factsOf, toldFolder } from "../../facts.js";
import { transcript } from "../../transcript.js";
import { contentText, joinBlocks } from "../../values/content-text.js";
import { isObject, type JsonObject, objectOrEmpty, scalarText, stringOrNull } from "../../values/json.js";
import { handOver, type Output, type Reader, type RecordFormat } from "../format.js";
import { isAgentNote, personText, shellText } from "./harness.js";
import { isResponseItem, type ResponseItem, responseItem } from "./item.js";
import { type Copied, copiedHistory, hasCopies, idOf, parentOf } from "./lineage.js";

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
  let folder: string | null = null;
  let signal: string | null = null;
  let turn = 0;
  let isOpen = false;
  let requests = 0;
  /** What a parent's history is told from the session's own by, until its end is found. */
  let copied: Copied | null = null;
  /** Whether requests before the session's own first turn are its parent's, which was forked before it answered, or what the turn is about. */
  let isUnsure = false;
  /** Whether an item of a person stands behind the last answer. */
  let isSaid = false;
  /** What an event says that a person asked, until an answer shows that no item does: a review is asked for in no other way. */
  let told: { readonly text: string; readonly timestamp: unknown } | null = null;
  /** What another agent said last: two kinds of lines can hold it. */
  let heard: string | null = null;

  const key = (): string => {
    settleTold();
    isSaid = false;
    isUnsure = false;
    if (!isOpen) turn++;
    isOpen = true;
    return `turn-${turn}`;
  };

  const addUser = (texts: readonly string[], timestamp: unknown): void => {
    const parts = texts.filter((text) => {
      const shown = shellText(text);
      if (shown !== null) talk.ran(shown);
      else if (isAgentNote(text)) addAgentMessage(text, "subagent_notification", timestamp);
      else return true;
      return false;
    });
    const own = parts.map(personText);
    for (const [at, text] of parts.entries()) if (own[at] === null) folder ??= toldFolder(text);
    talk.dropped.add(DROPPED.harness, own.filter((text) => text === null).length);
    const said = joinBlocks(own.filter((text) => text !== null));
    if (said.trim() === "") return;
    if (isUnsure) talk.markCopied();
    isUnsure = false;
    if (told !== null) talk.dropped.add(unread("event_msg", "user_message"));
    told = null;
    isSaid = true;
    requests++;
    talk.say("user", said, timestamp);
  };
  const settleTold = (): void => {
    if (told === null) return;
    const { text, timestamp } = told;
    told = null;
    isOpen = false;
    addUser([text], timestamp);
  };
  const addTold = (text: string, timestamp: unknown): void => {
    if (told !== null || isSaid || personText(text) === null) talk.dropped.add(unread("event_msg", "user_message"));
    else told = { text, timestamp };
  };
  /** What another agent said: the first words to a helper are its task, all else is context that stands like a result. */
  const addAgentMessage = (text: string, kind: string, timestamp: unknown): void => {
    if (text.trim() === "" || text === heard) {
      // Encrypted, or a line that only says that one came.
      talk.dropped.add(text === heard ? DROPPED.duplicate : unread(kind));
      return;
    }
    heard = text;
    const isTask = requests === 0 && parentOf(objectOrEmpty(meta))?.kinship === "sub-agent";
    isOpen = false;
    if (isTask) addUser([text], timestamp);
    else talk.observe({ call_id: null, content: output.fit(text) });
  };

  const addItem = (item: ResponseItem, timestamp: unknown, type: unknown): void => {
    if (item.kind === "message" && item.role === "assistant") talk.answer({ text: joinBlocks(item.texts), timestamp }, key());
    else if (item.kind === "message") {
      isOpen = false;
      if (item.role === "user") addUser(item.texts, timestamp);
      else talk.dropped.add(DROPPED.harness);
    } else if (item.kind === "reasoning") talk.answer({ reasoning: item.text, timestamp }, key());
    else if (item.kind === "call") talk.answer({ calls: [item.call], timestamp }, key());
    else if (item.kind === "agent-message") addAgentMessage(item.text, "agent_message", timestamp);
    else if (item.kind === "provider-call") talk.dropped.add(DROPPED.providerCall);
    else if (item.kind === "other") talk.dropped.add(unread("response_item", type));
    else if (item.kind === "result") {
      isOpen = false;
      talk.observe({ ...item.result, content: output.fit(item.result.content) });
    }
  };

  const addEvent = (event: JsonObject, timestamp: unknown): void => {
    const type = scalarText(event.type);
    const item = objectOrEmpty(event.item);
    const said = type === "user_message" ? event.message : item.type === "UserMessage" ? item.content : null;
    if (END_EVENTS.has(type) || type === "thread_rolled_back") settleTold();
    if (END_EVENTS.has(type)) signal = type;
    else if (type === "task_started") signal = null;
    else if (said !== null) addTold(contentText(said), timestamp);
    else if (type === "thread_rolled_back" && typeof event.num_turns === "number") talk.rollBack(event.num_turns);
    else talk.dropped.add(unread("event_msg", type));
  };

  const addMeta = (payload: JsonObject, written: unknown): void => {
    if (meta === undefined) {
      meta = payload;
      talk.say("system", scalarText(objectOrEmpty(payload.base_instructions).text));
      if (hasCopies(payload)) copied = copiedHistory(payload, written);
      return;
    }
    talk.dropped.add(unread("session_meta"));
    // The parent's own, at the head of what was copied.
    if (payload.id !== meta.id && parentOf(meta) !== null && turn === 0) copied ??= copiedHistory(meta, written);
  };
  const endCopied = (record: JsonObject): void => {
    settleTold();
    copied = null;
    requests = 0;
    signal = null;
    isOpen = false;
    talk.markCopied({ keepRequests: true });
    // What is asked stands behind the start of its turn, but before its context; some helpers say where they begin.
    isUnsure = record.type !== "turn_context" || typeof meta?.subagent_history_start_ordinal === "number";
  };

  const acceptEnvelope = (record: JsonObject): void => {
    const { payload, timestamp } = record;
    if (!isObject(payload)) {
      output.badRecord();
      return;
    }
    if ((record.type !== "session_meta" || turn > 0) && copied?.endsAt(record)) endCopied(record);
    if (record.type === "session_meta") addMeta(payload, timestamp);
    else if (record.type === "turn_context") model = stringOrNull(payload.model) ?? model;
    else if (record.type === "compacted") talk.dropped.add(DROPPED.compactSummary);
    else if (record.type === "event_msg") addEvent(payload, timestamp);
    else if (record.type === "inter_agent_communication") addAgentMessage(contentText(payload.content), record.type, timestamp);
    else if (record.type === "response_item") addItem(responseItem(payload), timestamp, payload.type);
    else talk.dropped.add(unread(record.type));
  };

  return {
    accept: (record) => {
      if (ENVELOPES.has(scalarText(record.type)) || isObject(record.payload)) acceptEnvelope(record);
      else if (isLegacyHeader(record)) meta ??= record;
      else if (isResponseItem(record)) addItem(responseItem(record), record.timestamp, record.type);
      else talk.dropped.add(unread(record.type ?? record.record_type));
    },
    finish: () => {
      settleTold();
      if (copied !== null) talk.markCopied();
      const head = objectOrEmpty(meta);
      const git = objectOrEmpty(head.git);
      handOver(output, talk, {
        id: idOf(head),
        formatVersion: stringOrNull(head.cli_version),
        agent: "codex",
        model,
        facts: factsOf({
          folder: head.cwd ?? folder,
          remote: git.repository_url,
          branch: git.branch,
          provider: head.model_provider,
        }),
        outcomeSignal: signal,
        parent: parentOf(head),
      });
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
