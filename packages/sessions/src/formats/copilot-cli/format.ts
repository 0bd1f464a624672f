import type { ToolCall } from "@imprint/contracts";
import { DROPPED, unread } from "../../dropped.js";
import { factsOf } from "../../facts.js";
import { NOT_RECORDED, transcript } from "../../transcript.js";
import { joinBlocks, resultText } from "../../values/content-text.js";
import {
  isObject,
  isString,
  type JsonObject,
  objectOrEmpty,
  objectsOf,
  parseJson,
  scalarText,
  stringOrNull,
} from "../../values/json.js";
import { digest, recordedOnce } from "../../values/recorded-once.js";
import { argumentsText } from "../../values/tool-calls.js";
import { handOver, type Output, type Reader, type RecordFormat } from "../format.js";
import { helpers } from "./helpers.js";

/** Messages in the person's place that the tool wrote: skills, hooks, other agents, the loop that goes on by itself. */
const OWN_SOURCE = /^(?:skill|agent|system|hook|autopilot|command|schedule|jit)\b/;

/** How a permission ends that was not given, also where no result of the call is written because all was stopped. */
const REFUSED = /^(?:denied|cancelled)/;

function callsOf(requests: unknown): ToolCall[] {
  return objectsOf(requests).flatMap(({ toolCallId: id, name, arguments: args }) =>
    isString(id) && isString(name) ? [{ id, name, arguments: argumentsText(args) }] : [],
  );
}

const imageText = ({ mimeType }: JsonObject): string => (scalarText(mimeType).startsWith("image/") ? "[image]" : "");

/** What a tool answered; null where the event does not hold it, as in the transcripts of Copilot Chat in VS Code. */
function contentOf({ result, error }: JsonObject): string | null {
  const { content, binaryResultsForLlm } = objectOrEmpty(result);
  const images = objectsOf(binaryResultsForLlm).map(imageText);
  const said = isString(result) ? result : resultText(content);
  const text = joinBlocks([said || scalarText(objectOrEmpty(error).message), ...images]);
  return text !== "" || isString(result) || (content !== undefined && content !== null) ? text : null;
}

/** What a person ran, as a terminal shows it. */
function shellText(call: JsonObject, content: string): string {
  const { command } = objectOrEmpty(call.arguments);
  return `$ ${isString(command) ? command : scalarText(call.toolName)}\n${content}`.trimEnd();
}

function copilotReader(output: Output): Reader<JsonObject> {
  const talk = transcript(output.hold);
  let start: JsonObject = {};
  let model: string | null = null;
  let signal: string | null = null;
  let system: string | null = null;
  let reasoning = "";
  let users = 0;
  let results = 0;
  /** How many requests had come before an event; a rewind names an event. */
  const usersBefore = new Map<string, number>();
  const known = new Map<string, string>();
  const theirs = helpers();
  const isNew = recordedOnce<string>((contents) => contents);
  const prompts = new Set<string>();
  const ranByUser = new Map<string, JsonObject>();

  const addCall = (call: ToolCall): void => {
    known.set(call.id, digest([call.name, call.arguments]));
    const { prompt } = objectOrEmpty(parseJson(call.arguments));
    if (isString(prompt)) prompts.add(prompt);
  };
  const addUser = (event: JsonObject, data: JsonObject): void => {
    const text = scalarText(data.content);
    if (prompts.has(text)) talk.dropped.add(DROPPED.sidechain);
    else if (data.isAutopilotContinuation === true || OWN_SOURCE.test(scalarText(data.source))) talk.dropped.add(DROPPED.harness);
    else if (text.trim() !== "") {
      talk.say("user", text, event.timestamp);
      users++;
      signal = null;
    }
  };
  const addAnswer = (event: JsonObject, data: JsonObject): void => {
    const named = callsOf(data.toolRequests);
    const calls = named.filter(({ id, name, arguments: args }) => known.get(id) !== digest([name, args]));
    talk.dropped.add(DROPPED.repeatedCall, named.length - calls.length);
    for (const call of calls) addCall(call);
    model = stringOrNull(data.model) ?? model;
    // The parts of one answer stand before the results of its calls.
    const id = stringOrNull(data.apiCallId) ?? stringOrNull(data.messageId);
    talk.answer(
      {
        text: scalarText(data.content),
        reasoning: scalarText(data.reasoningText) || reasoning,
        calls,
        timestamp: event.timestamp,
      },
      id === null ? undefined : `${id} ${results}`,
    );
    reasoning = "";
  };
  /** A call that no answer named is the latest answer's all the same. */
  const addStart = (event: JsonObject, data: JsonObject): void => {
    const id = stringOrNull(data.toolCallId);
    if (id === null || known.has(id) || ranByUser.has(id) || !isString(data.toolName)) return;
    const call = { id, name: data.toolName, arguments: argumentsText(data.arguments) };
    addCall(call);
    talk.answer({ calls: [call], timestamp: event.timestamp });
  };
  const addResult = (data: JsonObject): void => {
    results++;
    const content = contentOf(data);
    const call_id = stringOrNull(data.toolCallId);
    const result = { call_id, ...(data.success === false ? { is_error: true } : {}) };
    const call = ranByUser.get(call_id ?? "");
    if (call !== undefined) talk.ran(shellText(call, content ?? NOT_RECORDED));
    else talk.observe({ ...result, content: content === null ? null : output.fit(content) });
  };
  const addSystem = (data: JsonObject): void => {
    const text = scalarText(data.content);
    if (text === system) return;
    if (system === null) talk.say("system", text);
    else talk.dropped.add(DROPPED.systemUpdate);
    system = text;
  };
  const rewind = (data: JsonObject): void => {
    const before = usersBefore.get(scalarText(data.upToEventId));
    if (before === undefined || before >= users) return;
    talk.rollBack(users - before);
    users = before;
  };

  return {
    accept: (event) => {
      const { type, data } = event;
      if (!isString(type)) return;
      if (!isObject(data)) {
        if (/^(?:user|assistant)\.message$/.test(type)) output.badRecord();
        return;
      }
      if (isString(event.id) && !isNew(event.id, digest([type, data]))) return talk.dropped.add(DROPPED.duplicate);
      if (isString(event.id)) usersBefore.set(event.id, users);
      const isOwn = (call: string): boolean => known.has(call) || ranByUser.has(call);
      if (theirs.isTheirs(event, data, isOwn)) talk.dropped.add(DROPPED.sidechain);
      else if (type === "session.start") start = data;
      else if (type === "user.message") addUser(event, data);
      else if (type === "assistant.message") addAnswer(event, data);
      else if (type === "assistant.reasoning") reasoning = scalarText(data.content);
      else if (type === "tool.user_requested") ranByUser.set(scalarText(data.toolCallId), data);
      else if (type === "tool.execution_start") addStart(event, data);
      else if (type === "tool.execution_complete") addResult(data);
      else if (type === "system.message") addSystem(data);
      else if (type === "system.notification") talk.note(scalarText(data.content));
      else if (type === "skill.invoked") talk.dropped.add(DROPPED.harness);
      else if (type === "session.snapshot_rewind") rewind(data);
      else if (type === "permission.completed" && REFUSED.test(scalarText(objectOrEmpty(data.result).kind))) talk.takingBack()();
      else if (type === "session.compaction_complete" && isString(data.summaryContent)) talk.dropped.add(DROPPED.compactSummary);
      else if (type === "session.task_complete") signal = "task_complete";
      else talk.dropped.add(unread(type));
    },
    finish: () => {
      const { cwd, repository, branch } = objectOrEmpty(start.context);
      handOver(output, talk, {
        id: stringOrNull(start.sessionId),
        formatVersion: stringOrNull(start.copilotVersion),
        agent: "copilot-cli",
        model: model ?? stringOrNull(start.selectedModel),
        facts: factsOf({ folder: cwd, remote: repository, branch }),
        outcomeSignal: signal,
      });
    },
  };
}

/** Whether an event is Copilot's, also where the file's beginning is gone. */
function isEvent({ type, data, id, parentId }: JsonObject): boolean {
  if (!isObject(data) || !isString(id)) return false;
  if (type === "session.start") return "copilotVersion" in data || "producer" in data;
  if (parentId !== null && !isString(parentId)) return false;
  if (type === "user.message") return isString(data.content);
  if (type === "assistant.message") return isString(data.messageId) && Array.isArray(data.toolRequests);
  return (type === "tool.execution_start" || type === "tool.execution_complete") && isString(data.toolCallId);
}

/** GitHub Copilot CLI: ~/.copilot/session-state/<session>/events.jsonl. Sub-agents' events stand between the session's own. */
export const copilotCli: RecordFormat = {
  name: "copilot-cli",
  sign: "events `{type, data, id, parentId}` such as `session.start` and `assistant.message`",
  recognises: isEvent,
  read: copilotReader,
};
