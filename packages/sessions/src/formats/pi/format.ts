import type { Parent, ToolDefinition } from "@imprint/contracts";
import { parentSession } from "../../draft.js";
import { DROPPED, unread } from "../../dropped.js";
import { factsOf } from "../../facts.js";
import { type Transcript, transcript } from "../../transcript.js";
import { contentText, joinBlocks, resultText } from "../../values/content-text.js";
import { isObject, isString, type JsonObject, objectOrEmpty, scalarText, stringOrNull } from "../../values/json.js";
import { readParts } from "../../values/message-parts.js";
import { recordedOnce } from "../../values/recorded-once.js";
import { timestampOrNull } from "../../values/timestamp.js";
import { mergeTools, toolDefinitions } from "../../values/tools.js";
import { handOver, type Output, type Reader, type RecordFormat } from "../format.js";
import { activeBranch } from "./branch.js";
import { sessionDialect } from "./session-header.js";

const UNFINISHED = new Set(["aborted", "error"]);

function addAnswer(talk: Transcript, message: JsonObject, index: number): void {
  const { text, reasoning, calls } = readParts(message.content, `call-${index}`);
  const contextOnly = UNFINISHED.has(scalarText(message.stopReason)) ? "aborted" : undefined;
  talk.answer({ text, reasoning, calls, contextOnly, timestamp: message.timestamp });
}

function addMessage(talk: Transcript, message: JsonObject, index: number): void {
  const { role, content } = message;
  if (role === "system" && talk.hasAnswer()) talk.dropped.add(DROPPED.systemUpdate);
  else if (role === "system" || role === "user") talk.say(role, contentText(content), message.timestamp);
  else if (role === "assistant") addAnswer(talk, message, index);
  else if (role === "toolResult") {
    const call_id = stringOrNull(message.toolCallId) ?? `result-${index}`;
    talk.observe({ call_id, content: resultText(content), ...(message.isError === true ? { is_error: true } : {}) });
  } else if (role === "bashExecution" && isString(content) && content !== "") talk.ran(content);
  else talk.dropped.add(role === "bashExecution" ? DROPPED.localCommand : DROPPED.harness);
}

/** The prompt as pi puts it together: what a message says, and its sections behind it. */
const promptText = ({ content, sections }: JsonObject): string =>
  joinBlocks([contentText(content), ...Object.values(objectOrEmpty(sections)).filter(isString)]);

/** What a person ran with `!`, as a terminal shows it; with `!!` the model was not told. */
const shellText = ({ command, output, excludeFromContext }: JsonObject): string =>
  excludeFromContext === true ? "" : `$ ${scalarText(command)}\n${scalarText(output)}`.trimEnd();

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
  const { role, stopReason, timestamp } = message;
  const content = role === "system" ? promptText(message) : role === "bashExecution" ? shellText(message) : message.content;
  output.hold(contentText(content).length);
  return { ...place, message: { role, content, stopReason, timestamp } };
}

/** Kinds of entries that are read, or only lead from one to the next. */
const READ = new Set(["message", "compaction", "branch_summary", "custom_message", "model_change"]);

/** A fork names its parent's file, and keeps the entries that it took over with the times that they had. */
function parentOf(header: JsonObject | undefined): Parent | null {
  const file = stringOrNull(stringOrNull(header?.parentSession)?.split(/[/\\]/).at(-1)) ?? "";
  return parentSession(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i.exec(file)?.[0] ?? stringOrNull(file), "fork");
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
  let tools: readonly ToolDefinition[] = [];

  return {
    accept: (line) => {
      const record = line.type === "message_end" ? { ...line, type: "message" } : line;
      if (record.type === "session") {
        header ??= record;
        model ??= stringOrNull(record.modelId);
        provider ??= record.provider;
        return;
      }
      if (record.type === "message" && !isObject(record.message)) return output.badRecord();
      if (record.type === "model_change") model = stringOrNull(record.modelId) ?? model;
      const message = objectOrEmpty(record.message);
      if (message.role === "assistant") {
        model = stringOrNull(message.model) ?? model;
        provider = message.provider ?? provider;
      } else if (message.role === "system") tools = mergeTools(tools, toolDefinitions(message.toolsAdded));
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
        if (entry.type === "message" && isObject(entry.message)) addMessage(talk, entry.message, index);
        else if (entry.type === "compaction" || entry.type === "branch_summary") talk.dropped.add(DROPPED.compactSummary);
        else if (entry.type === "custom_message") talk.dropped.add(DROPPED.harness);
        if (index === copies - 1) talk.markCopied();
      });
      talk.dropped.add(DROPPED.abandoned, abandoned);
      const version = header?.version;
      handOver(output, talk, {
        id: stringOrNull(header?.id),
        formatVersion: version === undefined ? "1" : scalarText(version),
        agent: "pi",
        model,
        facts: factsOf({ folder: header?.cwd, provider }),
        parent: parentOf(header),
        tools,
      });
    },
  };
}

/** pi: version 1 is a plain list of messages, from version 2 on entries form a tree; `--mode json` prints each message as it ends. */
export const pi: RecordFormat = {
  name: "pi",
  sign: "a line of type `session`, then messages with roles such as `toolResult`",
  recognises: (_, head) => sessionDialect(head) === "pi",
  read: piReader,
};
