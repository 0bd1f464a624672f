import type { ToolCall } from "@imprint/contracts";
import { DROPPED } from "../../dropped.js";
import { type Transcript, transcript } from "../../transcript.js";
import { joinBlocks } from "../../values/content-text.js";
import { isString, type JsonObject, objectOrEmpty, objectsOf, parseJson, scalarText, stringOrNull } from "../../values/json.js";
import { argumentsText } from "../../values/tool-calls.js";
import { toolDefinitions } from "../../values/tools.js";
import { verdictOf } from "../../values/verdict.js";
import { handOver, type Output, type RecordFormat } from "../format.js";

/** Actions and observations name their class, in either spelling. */
const classOf = (item: JsonObject): string =>
  scalarText(item.class_ ?? item.class)
    .replace(/(?<=[a-z])(?=[A-Z])/g, "_")
    .toLowerCase();

const CLASS = /^(?:api|code|message)_action$|^(?:text|web|image)_observation$/;

/** The items of a trajectory; a data set may keep them as JSON text. */
function itemsOf({ content }: JsonObject): readonly JsonObject[] {
  return objectsOf(isString(content) && content.trimStart().startsWith("[") ? parseJson(content) : content);
}

function callOf(item: JsonObject, kind: string, fallbackId: string): ToolCall | null {
  const id = stringOrNull(item.tool_call_id) ?? fallbackId;
  if (kind === "api_action" && isString(item.function)) return { id, name: item.function, arguments: argumentsText(item.kwargs) };
  if (kind === "code_action" && isString(item.content))
    return { id, name: stringOrNull(item.language) ?? "code", arguments: argumentsText({ code: item.content }) };
  return null;
}

/** What a page shows, without its markup where its tree was kept. */
const webText = ({ url, axtree, html }: JsonObject): string =>
  [scalarText(url), scalarText(axtree) || scalarText(html)].filter((text) => text !== "").join("\n");

/** What the environment says: of the call that it names, else of the first without a result; before any action it is the system's. */
function observe(talk: Transcript, item: JsonObject, text: string, output: Output): void {
  const call_id = stringOrNull(item.tool_call_id) ?? talk.openCalls()[0] ?? null;
  if (!talk.hasAnswer()) talk.say("system", text);
  else if (call_id !== null || text !== "") talk.observe({ call_id, content: output.fit(text) });
}

/** Calls in a row, before anything came back, are of one answer, which `key` names. */
function addItem(talk: Transcript, item: JsonObject, { id, key }: { id: string; key: string }, output: Output): void {
  const kind = classOf(item);
  const thought = scalarText(item.description ?? item.thoughts);
  const content = scalarText(item.content ?? item.message ?? item.text);
  const reasoning = scalarText(item.reasoning_content);
  const call = callOf(item, kind, id);
  if (call !== null) talk.answer({ text: thought, reasoning, calls: [call] }, key);
  else if (/^(?:message_action|text_observation)$/.test(kind) && item.source === "user") talk.say("user", content);
  else if (kind === "message_action") talk.answer({ text: joinBlocks([thought, content]), reasoning });
  // Data sets of conversations among agents keep the model's own words as an observation of an agent.
  else if (kind === "text_observation" && item.source === "agent") talk.answer({ text: content });
  else if (kind === "text_observation") observe(talk, item, content, output);
  else if (kind === "web_observation") observe(talk, item, webText(item), output);
  else if (kind === "image_observation") observe(talk, item, "[image]", output);
  else output.badRecord();
}

function readTrajectory(record: JsonObject, output: Output): void {
  const talk = transcript(output.hold);
  const items = itemsOf(record);
  const opening = scalarText(record.system ?? objectOrEmpty(record.details).system_prompt);
  if (opening !== "") talk.say("system", opening);
  let key = "";
  items.forEach((item, index) => {
    const isCall = /^(?:api|code)_action$/.test(classOf(item));
    key = isCall ? key || `answer-${index}` : "";
    addItem(talk, item, { id: `call-${index}`, key }, output);
  });
  const screens = objectsOf(items.map(({ image_observation }) => image_observation)).length;
  talk.dropped.add(DROPPED.environment, screens);
  const tools = toolDefinitions(record.tools ?? objectOrEmpty(record.details).tools);
  handOver(output, talk, { part: stringOrNull(record.id), tools, ...verdictOf(record) });
}

/** The Agent Data Protocol's standardized trajectories: actions and observations, a record a run. */
export const agentDataProtocol: RecordFormat = {
  name: "agent-data-protocol",
  sign: "records with `content` of actions and observations that name their `class_`",
  recognises: (record) => {
    const items = itemsOf(record);
    return items.length > 0 && items.every((item) => CLASS.test(classOf(item)));
  },
  read: (output) => ({ accept: (record) => readTrajectory(record, output), finish: () => {} }),
};
