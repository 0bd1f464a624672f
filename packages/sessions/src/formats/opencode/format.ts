import type { Parent } from "@imprint/contracts";
import { parentSession } from "../../draft.js";
import { DROPPED, unread } from "../../dropped.js";
import { factsOf } from "../../facts.js";
import { type Transcript, transcript } from "../../transcript.js";
import { joinBlocks } from "../../values/content-text.js";
import { isObject, isString, type JsonObject, objectOrEmpty, objectsOf, scalarText, stringOrNull } from "../../values/json.js";
import { recordedOnce } from "../../values/recorded-once.js";
import { timestampOrNull } from "../../values/timestamp.js";
import { handOver, type Output, type Reader, type RecordFormat } from "../format.js";
import { answerSteps, type Message, userParts } from "./parts.js";
import { firstGeneration, isSecondMessage, isSecondTurn } from "./second-generation.js";

const isPart = (record: JsonObject): boolean => isString(record.messageID) && isString(record.sessionID) && isString(record.type);
const isInfo = (record: JsonObject): boolean =>
  isString(record.sessionID) &&
  isString(record.id) &&
  (record.role === "user" || record.role === "assistant") &&
  isObject(record.time);
const isMessage = (record: JsonObject): boolean =>
  isObject(record.info) && isString(record.info.sessionID) && Array.isArray(record.parts);
const isExport = (record: JsonObject): boolean =>
  isObject(record.info) &&
  isString(record.info.id) &&
  objectsOf(record.messages).some((message) => isMessage(message) || isSecondTurn(message));
const isSession = (record: JsonObject): boolean =>
  isString(record.id) && record.id.startsWith("ses") && isString(record.projectID) && isObject(record.time);

const created = (info: JsonObject): unknown => objectOrEmpty(info.time).created;

/** A fork of the first generation says so in its title only. */
const FORK_TITLE = / \(fork #\d+\)$/;

const parentOf = ({ parentID, forkSessionID }: JsonObject): Parent | null =>
  parentSession(stringOrNull(forkSessionID), "fork") ?? parentSession(stringOrNull(parentID), "sub-agent");

/** Messages of a fork that are older than it are copies of its parent's. */
function copiesOf(session: JsonObject): (message: Message) => boolean {
  const isFork = isString(session.forkSessionID) || FORK_TITLE.test(scalarText(session.title));
  const since = created(session);
  return ({ info }) => {
    const at = created(info);
    return isFork && typeof at === "number" && typeof since === "number" && at < since;
  };
}

/** The tool's output as it will be kept, so that a session in many files is not held as a whole. */
function slim(part: JsonObject, output: Output): JsonObject {
  if (isString(part.text)) output.hold(part.text.length);
  const state = objectOrEmpty(part.state);
  return isString(state.output) ? { ...part, state: { ...state, output: output.fit(state.output) } } : part;
}

/** Parts that bound a step look alike where their ids were redacted. */
const SPOKEN = new Set(["text", "reasoning", "tool", "file"]);

function withoutRepeats(parts: readonly JsonObject[], talk: Transcript): JsonObject[] {
  const isNew = recordedOnce<JsonObject>((part) => part);
  const kept = parts.filter((part) => !isString(part.id) || !SPOKEN.has(scalarText(part.type)) || isNew(part.id, part));
  talk.dropped.add(DROPPED.duplicate, parts.length - kept.length);
  return kept;
}

/** Messages without those from the one on to which the person went back. */
function withoutReverted(messages: readonly Message[], revert: JsonObject, talk: Transcript): readonly Message[] {
  const at = isString(revert.messageID) ? messages.findIndex(({ info }) => info.id === revert.messageID) : -1;
  const from = messages[at];
  // Of several messages with that id nobody knows which one it was.
  if (from === undefined || messages.findLastIndex(({ info }) => info.id === revert.messageID) !== at) return messages;
  const part = from.parts.findIndex(({ id }) => id === revert.partID);
  talk.dropped.add(DROPPED.abandoned, messages.length - at - (part > 0 ? 1 : 0));
  return [...messages.slice(0, at), ...(part > 0 ? [{ ...from, parts: from.parts.slice(0, part) }] : [])];
}

function addMessages(talk: Transcript, messages: readonly Message[], isCopy: (message: Message) => boolean): void {
  const copies = messages.findLastIndex(isCopy) + 1;
  let system = "";
  let ranTool = false;
  for (const [place, { info, parts }] of messages.entries()) {
    if (place === copies && copies > 0) talk.markCopied();
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
        const timestamp = created(info);
        talk.answer({ text: joinBlocks(texts), reasoning: joinBlocks(reasonings), calls, contextOnly, timestamp });
        for (const result of results) talk.observe(result, { idsRepeat: true });
      }
    }
  }
  if (copies === messages.length && copies > 0) talk.markCopied();
}

function opencodeReader(output: Output): Reader<JsonObject> {
  const talk = transcript();
  /** Whole messages, each in its place, and those that are made up of records of their own. */
  let messages: Message[] = [];
  const isNew = recordedOnce<Message>((message) => message);
  const byId = new Map<string, Message>();
  let session: JsonObject = {};
  let isStorage = false;

  const messageOf = (id: string): Message => {
    const known = byId.get(id);
    if (known !== undefined) return known;
    const message = { info: {}, parts: [] };
    byId.set(id, message);
    messages.push(message);
    return message;
  };
  const addWhole = ({ info, parts }: Message): void => {
    const message = { info, parts: withoutRepeats(parts, talk).map((part) => slim(part, output)) };
    if (!isString(info.id) || isNew(info.id, message)) messages.push(message);
    else talk.dropped.add(DROPPED.duplicate);
  };
  const addSecond = (record: JsonObject): void => {
    const said = firstGeneration(record);
    if (said === null) talk.dropped.add(unread(record.type));
    else for (const message of said) addWhole(message);
  };
  const addMessage = (record: JsonObject): void => {
    if (isSecondMessage(record)) addSecond(record);
    else addWhole({ info: objectOrEmpty(record.info), parts: [...objectsOf(record.parts)] });
  };
  const byKey = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);

  return {
    accept: (record) => {
      if (isExport(record)) {
        session = objectOrEmpty(record.info);
        for (const message of objectsOf(record.messages)) addMessage(message);
      } else if (isMessage(record) || (isString(record.sessionID) && isSecondMessage(record))) addMessage(record);
      else if (isPart(record)) {
        isStorage = true;
        messageOf(scalarText(record.messageID)).parts.push(slim(record, output));
      } else if (isInfo(record)) messageOf(scalarText(record.id)).info = record;
      else if (isSession(record)) session = record;
      else talk.dropped.add(unread(record.type));
    },
    finish: () => {
      // Ids ascend with time; files of a folder come in the order of their paths.
      if (isStorage)
        messages = messages
          .map(({ info, parts }) => ({
            info,
            parts: withoutRepeats(parts, talk).sort((a, b) => byKey(scalarText(a.id), scalarText(b.id))),
          }))
          .sort((left, right) => byKey(scalarText(left.info.id), scalarText(right.info.id)));
      addMessages(talk, withoutReverted(messages, objectOrEmpty(session.revert), talk), copiesOf(session));
      const started = timestampOrNull(created(session));
      const answer = messages.findLast(({ info }) => isString(info.modelID))?.info ?? {};
      handOver(output, talk, {
        id: stringOrNull(session.id) ?? stringOrNull(messages[0]?.info.sessionID),
        formatVersion: stringOrNull(session.version),
        agent: "opencode",
        model: stringOrNull(answer.modelID),
        facts: factsOf({ folder: session.directory ?? objectOrEmpty(answer.path).cwd, provider: answer.providerID }),
        ...(started === null ? {} : { startedAt: started }),
        parent: parentOf(session),
      });
    },
  };
}

/** opencode: what `opencode export` prints, the records of its databases, and the folders of its storage before it had one. */
export const opencode: RecordFormat = {
  name: "opencode",
  sign: "`info` and `messages` of `info` and `parts`",
  recognises: (record) => [isExport, isMessage, isPart, isInfo, isSession].some((shows) => shows(record)),
  read: opencodeReader,
};
