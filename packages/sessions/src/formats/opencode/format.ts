import { draft } from "../../draft.js";
import { DROPPED } from "../../dropped.js";
import { type Transcript, transcript } from "../../transcript.js";
import { joinBlocks } from "../../values/content-text.js";
import { isObject, isString, type JsonObject, objectOrEmpty, objectsOf, scalarText, stringOrNull } from "../../values/json.js";
import { timestampOrNull } from "../../values/timestamp.js";
import type { Output, Reader, RecordFormat } from "../format.js";
import { answerSteps, userParts } from "./parts.js";

interface Message {
  info: JsonObject;
  parts: JsonObject[];
}

const isPart = (record: JsonObject): boolean => isString(record.messageID) && isString(record.sessionID) && isString(record.type);
const isInfo = (record: JsonObject): boolean =>
  isString(record.sessionID) &&
  isString(record.id) &&
  (record.role === "user" || record.role === "assistant") &&
  isObject(record.time);
const isMessage = (record: JsonObject): boolean =>
  isObject(record.info) && isString(record.info.sessionID) && Array.isArray(record.parts);
const isExport = (record: JsonObject): boolean =>
  isObject(record.info) && isString(record.info.id) && objectsOf(record.messages).some(isMessage);
const isSession = (record: JsonObject): boolean =>
  isString(record.id) && record.id.startsWith("ses") && isString(record.projectID) && isObject(record.time);

const created = (info: JsonObject): unknown => objectOrEmpty(info.time).created;

/** The tool's output as it will be kept, so that a session in many files is not held as a whole. */
function slim(part: JsonObject, output: Output): JsonObject {
  if (isString(part.text)) output.hold(part.text.length);
  const state = objectOrEmpty(part.state);
  return isString(state.output) ? { ...part, state: { ...state, output: output.fit(state.output) } } : part;
}

/** Messages without those from the one on to which the person went back. */
function withoutReverted(messages: readonly Message[], revert: JsonObject, talk: Transcript): readonly Message[] {
  const at = isString(revert.messageID) ? messages.findIndex(({ info }) => info.id === revert.messageID) : -1;
  const from = messages[at];
  if (from === undefined) return messages;
  const part = from.parts.findIndex(({ id }) => id === revert.partID);
  talk.dropped.add(DROPPED.abandoned, messages.length - at - (part > 0 ? 1 : 0));
  return [...messages.slice(0, at), ...(part > 0 ? [{ ...from, parts: from.parts.slice(0, part) }] : [])];
}

function addMessages(talk: Transcript, messages: readonly Message[]): void {
  let system = "";
  let ranTool = false;
  for (const { info, parts } of messages) {
    if (info.role === "user") {
      if (isString(info.system) && info.system !== system) talk.say("system", info.system);
      system = scalarText(info.system);
      const said = userParts(parts);
      ranTool = said.ranTool;
      talk.dropped.add(DROPPED.harness, said.harness);
      if (said.isCompaction) talk.dropped.add(DROPPED.compactSummary);
      else talk.say("user", said.text, created(info));
    } else if (info.role !== "assistant") talk.dropped.add(DROPPED.environment);
    else if (info.summary === true) talk.dropped.add(DROPPED.compactSummary);
    else {
      const contextOnly = ranTool ? "synthetic" : isObject(info.error) ? "aborted" : undefined;
      for (const step of answerSteps(parts, scalarText(info.id))) {
        const { texts, reasonings, calls, results } = step;
        if (texts.length + reasonings.length + calls.length === 0) continue;
        talk.answer({ text: joinBlocks(texts), reasoning: joinBlocks(reasonings), calls, contextOnly, timestamp: created(info) });
        for (const result of results) talk.observe(result, { idsRepeat: true });
      }
    }
  }
}

function opencodeReader(output: Output): Reader<JsonObject> {
  const byId = new Map<string, Message>();
  let session: JsonObject = {};
  let isStorage = false;

  const messageOf = (id: string): Message => {
    const known = byId.get(id);
    const message = known ?? { info: {}, parts: [] };
    if (known === undefined) byId.set(id, message);
    return message;
  };
  const addWhole = (record: JsonObject): void => {
    const info = objectOrEmpty(record.info);
    const message = messageOf(stringOrNull(info.id) ?? `message-${byId.size}`);
    message.info = info;
    message.parts = objectsOf(record.parts).map((part) => slim(part, output));
  };
  const byKey = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

  return {
    accept: (record) => {
      if (isExport(record)) {
        session = objectOrEmpty(record.info);
        for (const message of objectsOf(record.messages)) addWhole(message);
      } else if (isMessage(record)) addWhole(record);
      else if (isPart(record)) {
        isStorage = true;
        messageOf(scalarText(record.messageID)).parts.push(slim(record, output));
      } else if (isInfo(record)) messageOf(scalarText(record.id)).info = record;
      else if (isSession(record)) session = record;
    },
    finish: () => {
      const talk = transcript();
      let messages = [...byId.values()];
      // Ids ascend with time; files of a folder come in the order of their paths.
      if (isStorage)
        messages = messages
          .map(({ info, parts }) => ({ info, parts: parts.sort((a, b) => byKey(scalarText(a.id), scalarText(b.id))) }))
          .sort((left, right) => byKey(scalarText(left.info.id), scalarText(right.info.id)));
      addMessages(talk, withoutReverted(messages, objectOrEmpty(session.revert), talk));
      const started = timestampOrNull(created(session));
      output.conversation(
        draft({
          id: stringOrNull(session.id) ?? stringOrNull(messages[0]?.info.sessionID),
          formatVersion: stringOrNull(session.version),
          agent: "opencode",
          model: stringOrNull(messages.findLast(({ info }) => isString(info.modelID))?.info.modelID),
          ...(started === null ? {} : { startedAt: started }),
          steps: talk.steps(),
          dropped: talk.dropped.entries(),
        }),
      );
    },
  };
}

/** opencode: what `opencode export` prints, and the folders of its storage before it had a database. */
export const opencode: RecordFormat = {
  name: "opencode",
  sign: "`info` and `messages` of `info` and `parts`",
  recognises: (record) => [isExport, isMessage, isPart, isInfo, isSession].some((shows) => shows(record)),
  read: opencodeReader,
};
