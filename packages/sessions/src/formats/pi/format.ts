import type { Parent, ToolCall } from "@imprint/contracts";
import { draft } from "../../draft.js";
import { DROPPED, unread } from "../../dropped.js";
import { factsOf } from "../../facts.js";
import { type Transcript, transcript } from "../../transcript.js";
import { contentText, resultText } from "../../values/content-text.js";
import { isObject, isString, type JsonObject, objectsOf, scalarText, stringOrNull } from "../../values/json.js";
import { recordedOnce } from "../../values/recorded-once.js";
import { timestampOrNull } from "../../values/timestamp.js";
import { argumentsText } from "../../values/tool-calls.js";
import type { Output, Reader, RecordFormat } from "../format.js";
import { activeBranch } from "./branch.js";
import { sessionDialect } from "./session-header.js";

const UNFINISHED = new Set(["aborted", "error"]);

function addAnswer(talk: Transcript, message: JsonObject, index: number): void {
  const blocks = objectsOf(message.content);
  const ofType = (type: string): readonly JsonObject[] => blocks.filter((block) => block.type === type);
  const calls = ofType("toolCall").flatMap((block, at): ToolCall[] => {
    if (!isString(block.name)) return [];
    return [{ id: stringOrNull(block.id) ?? `call-${index}-${at}`, name: block.name, arguments: argumentsText(block.arguments) }];
  });
  talk.answer({
    text: isString(message.content) ? message.content : contentText(ofType("text")),
    reasoning: ofType("thinking")
      .map((block) => (isString(block.thinking) ? block.thinking : ""))
      .join("\n\n"),
    calls,
    contextOnly: UNFINISHED.has(scalarText(message.stopReason)) ? "aborted" : undefined,
    timestamp: message.timestamp,
  });
}

function addMessage(talk: Transcript, message: JsonObject, index: number): void {
  if (message.role === "user") talk.say("user", contentText(message.content), message.timestamp);
  else if (message.role === "assistant") addAnswer(talk, message, index);
  else if (message.role === "toolResult") {
    const call_id = stringOrNull(message.toolCallId) ?? `result-${index}`;
    talk.observe({ call_id, content: resultText(message.content), ...(message.isError === true ? { is_error: true } : {}) });
  } else talk.dropped.add(message.role === "bashExecution" ? DROPPED.localCommand : DROPPED.harness);
}

/** The entry without what no session needs, so that a long log is not held as a whole. */
function slim(entry: JsonObject, output: Output): JsonObject {
  const { type, id, message, timestamp: written } = entry;
  const place = {
    type,
    written,
    ...(id === undefined ? {} : { id }),
    ...("parentId" in entry ? { parentId: entry.parentId } : {}),
  };
  if (!isObject(message)) return place;
  if (message.role === "toolResult")
    return { ...place, message: { ...message, details: undefined, content: output.fit(resultText(message.content)) } };
  const { role, content, stopReason, timestamp } = message;
  output.hold(contentText(content).length);
  return { ...place, message: { role, content, stopReason, timestamp } };
}

/** Kinds of entries that are read, or only lead from one to the next. */
const READ = new Set(["message", "compaction", "branch_summary", "custom_message", "model_change"]);

/** A fork names its parent's file, and keeps the entries that it took over with the times that they had. */
function parentOf(header: JsonObject | undefined): Parent | null {
  const file = stringOrNull(header?.parentSession)?.split(/[/\\]/).at(-1);
  if (file === undefined || file === "") return null;
  return { session_id: /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i.exec(file)?.[0] ?? file, kinship: "fork" };
}

function copiesIn(entries: readonly JsonObject[], header: JsonObject | undefined): number {
  const since = timestampOrNull(header?.timestamp);
  if (since === null || parentOf(header) === null) return 0;
  const isCopy = ({ written }: JsonObject): boolean => (timestampOrNull(written) ?? since) < since;
  return entries.findLastIndex(isCopy) + 1;
}

function piReader(output: Output): Reader<JsonObject> {
  const talk = transcript();
  const isNew = recordedOnce<JsonObject>((entry) => entry);
  let entries: JsonObject[] = [];
  let header: JsonObject | undefined;
  let model: string | null = null;
  let provider: unknown;

  return {
    accept: (record) => {
      if (record.type === "session") {
        header ??= record;
        model ??= stringOrNull(record.modelId);
        provider ??= record.provider;
        return;
      }
      if (record.type === "message" && !isObject(record.message)) return output.badRecord();
      if (record.type === "model_change") model = stringOrNull(record.modelId) ?? model;
      if (isObject(record.message) && record.message.role === "assistant") {
        model = stringOrNull(record.message.model) ?? model;
        provider = record.message.provider ?? provider;
      }
      if (!READ.has(scalarText(record.type))) talk.dropped.add(unread(record.type));
      const entry = slim(record, output);
      if (isString(record.id) && !isNew(record.id, entry)) talk.dropped.add(DROPPED.duplicate);
      else entries.push(entry);
    },
    finish: () => {
      const { active, abandoned } = activeBranch(entries);
      entries = [];
      const copies = copiesIn(active, header);
      active.forEach((entry, index) => {
        if (index === copies && copies > 0) talk.markCopied();
        if (entry.type === "message" && isObject(entry.message)) addMessage(talk, entry.message, index);
        else if (entry.type === "compaction" || entry.type === "branch_summary") talk.dropped.add(DROPPED.compactSummary);
        else if (entry.type === "custom_message") talk.dropped.add(DROPPED.harness);
      });
      if (copies === active.length && copies > 0) talk.markCopied();
      talk.dropped.add(DROPPED.abandoned, abandoned);
      const version = header?.version;
      output.conversation(
        draft({
          id: stringOrNull(header?.id),
          formatVersion: version === undefined ? "1" : scalarText(version),
          agent: "pi",
          model,
          facts: factsOf({ folder: header?.cwd, provider }),
          parent: parentOf(header),
          steps: talk.steps(),
          dropped: talk.dropped.entries(),
        }),
      );
    },
  };
}

/** pi: version 1 is a plain list of messages, from version 2 on entries form a tree. */
export const pi: RecordFormat = {
  name: "pi",
  sign: "a line of type `session`, then messages with roles such as `toolResult`",
  recognises: (_, head) => sessionDialect(head) === "pi",
  read: piReader,
};
