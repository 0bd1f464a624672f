import { DROPPED } from "../../dropped.js";
import { factsOf } from "../../facts.js";
import { type Transcript, transcript } from "../../transcript.js";
import { joinBlocks } from "../../values/content-text.js";
import { isObject, isString, type JsonObject, objectOrEmpty, objectsOf, scalarText, stringOrNull } from "../../values/json.js";
import { timestampOrNull } from "../../values/timestamp.js";
import { handOver, type Output, type Reader, type RecordFormat } from "../format.js";
import { cursorTool } from "./tool.js";

const [USER, AGENT] = [1, 2];

const timeOf = ({ createdAt }: JsonObject): string => timestampOrNull(createdAt) ?? "";
const byTime = (left: JsonObject, right: JsonObject): number =>
  timeOf(left) < timeOf(right) ? -1 : timeOf(left) > timeOf(right) ? 1 : 0;

/** Bubbles of the conversation in its order, or by their times where it keeps none. Those that no header names were undone, and stand behind a restored checkpoint. */
function ordered(composer: JsonObject, bubbles: ReadonlyMap<string, JsonObject>, talk: Transcript): readonly JsonObject[] {
  const inline = objectsOf(composer.conversation);
  if (inline.length > 0) return inline;
  const map = objectOrEmpty(composer.conversationMap);
  const headers = objectsOf(composer.fullConversationHeadersOnly).map(({ bubbleId }) => scalarText(bubbleId));
  if (headers.length === 0) return [...Object.values(map).filter(isObject), ...bubbles.values()].sort(byTime);
  const found = headers.map((id) => bubbles.get(id) ?? (Object.hasOwn(map, id) ? map[id] : undefined)).filter(isObject);
  const named = new Set(headers);
  talk.dropped.add(DROPPED.missing, headers.length - found.length);
  talk.dropped.add(DROPPED.abandoned, [...bubbles.keys()].filter((id) => !named.has(id)).length);
  return found;
}

const thoughtOf = ({ thinking }: JsonObject): string =>
  isString(thinking) ? thinking : scalarText(objectOrEmpty(thinking).text);

/** A file, or lines of one, that a person named. */
const chunkText = ({ relativeWorkspacePath: place, lines }: JsonObject): string =>
  Array.isArray(lines) && lines.length > 0 ? `${scalarText(place)}\n${lines.map(scalarText).join("\n")}` : "";

function addUser(talk: Transcript, bubble: JsonObject): void {
  const chunks = objectsOf(bubble.attachedCodeChunks).map(chunkText);
  const images = objectsOf(bubble.images).map(() => "[image]");
  talk.say("user", joinBlocks([scalarText(bubble.text), ...chunks, ...images]), bubble.createdAt);
}

/** Takes the bubbles in order. The model's thought, its text and each of its calls have one of their own. */
function bubbleTaker(talk: Transcript, output: Output): (bubble: JsonObject, place: number) => void {
  let reasoning = "";
  /** The answer that the next call is of: what the model says begins one, and what comes back ends it. */
  let key: string | undefined;

  const addCall = (data: JsonObject, id: string, timestamp: unknown): void => {
    const { call, result, isRefused } = cursorTool(data, id);
    const { content } = result;
    if (call === null) {
      talk.partialCall(stringOrNull(data.name) ?? "a tool");
      return;
    }
    talk.answer({ reasoning, calls: [call], timestamp }, key ?? id);
    talk.observe({ ...result, content: content === null ? null : output.fit(content) }, { isRefused });
    reasoning = "";
    key = undefined;
  };
  const addAgent = (bubble: JsonObject, id: string): void => {
    const { createdAt: timestamp, toolFormerData: data } = bubble;
    const text = scalarText(bubble.text);
    const thought = thoughtOf(bubble);
    if (thought !== "") key = undefined;
    reasoning = joinBlocks([reasoning, thought]);
    if (text.trim() !== "") {
      key = id;
      talk.answer({ text, reasoning, timestamp }, key);
      reasoning = "";
    }
    if (isObject(data)) addCall(data, id, timestamp);
    else if (text.trim() === "" && thought === "") talk.dropped.add(DROPPED.empty);
  };
  return (bubble, place) => {
    if (bubble.type === AGENT) addAgent(bubble, stringOrNull(bubble.bubbleId) ?? `bubble-${place}`);
    else if (bubble.type === USER) {
      addUser(talk, bubble);
      reasoning = "";
      key = undefined;
    } else output.badRecord();
  };
}

/** Newer bubbles of a person name the workspace; so does its conversation, in some versions. */
const folderOf = (chat: JsonObject, list: readonly JsonObject[]): unknown => {
  const named = list.find(
    ({ workspaceProjectDir, workspaceUris }) => isString(workspaceProjectDir) || Array.isArray(workspaceUris),
  );
  const [first] = Array.isArray(named?.workspaceUris) ? named.workspaceUris : [];
  return chat.workspaceProjectDir ?? named?.workspaceProjectDir ?? first;
};

const modelOf = (value: unknown): string | null => stringOrNull(objectOrEmpty(value).modelName);

function cursorReader(output: Output): Reader<JsonObject> {
  const bubbles = new Map<string, JsonObject>();
  let composer: JsonObject | undefined;

  const finish = (): void => {
    const talk = transcript(output.hold);
    const chat = composer ?? {};
    const list = ordered(chat, bubbles, talk);
    list.forEach(bubbleTaker(talk, output));
    talk.dropped.add(DROPPED.compactSummary, isObject(chat.latestConversationSummary) ? 1 : 0);
    handOver(output, talk, {
      id: stringOrNull(chat.composerId),
      formatVersion: typeof chat._v === "number" ? String(chat._v) : null,
      agent: "cursor",
      model: list.map(({ modelInfo }) => modelOf(modelInfo)).findLast((name) => name !== null) ?? modelOf(chat.modelConfig),
      facts: factsOf({
        folder: folderOf(chat, list),
        branch: objectOrEmpty(chat.activeBranch).branchName ?? chat.createdOnBranch,
      }),
      outcomeSignal: stringOrNull(chat.status),
      startedAt: timestampOrNull(chat.createdAt),
    });
    bubbles.clear();
  };

  return {
    accept: (record) => {
      if (isString(record.composerId)) {
        if (composer !== undefined || bubbles.size > 0) finish();
        composer = record;
      } else if (isString(record.bubbleId)) bubbles.set(record.bubbleId, record);
      else output.badRecord();
    },
    finish,
  };
}

/** Cursor: a conversation of its database as `imprint` hands it over, the composer and then its bubbles, or with the bubbles inside it. */
export const cursor: RecordFormat = {
  name: "cursor",
  sign: "a `composerId` with `conversation` or headers, then lines with `bubbleId`",
  recognises: (record) =>
    (isString(record.composerId) &&
      ["conversation", "conversationMap", "fullConversationHeadersOnly"].some((field) => field in record)) ||
    (isString(record.bubbleId) && (record.type === USER || record.type === AGENT)),
  read: cursorReader,
};
