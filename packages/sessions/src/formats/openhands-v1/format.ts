import type { ToolDefinition } from "@imprint/contracts";
import { DROPPED, unread } from "../../dropped.js";
import { transcript } from "../../transcript.js";
import { contentText, resultText } from "../../values/content-text.js";
import { isObject, isString, type JsonObject, objectOrEmpty, objectsOf, scalarText, stringOrNull } from "../../values/json.js";
import { digest, recordedOnce } from "../../values/recorded-once.js";
import { argumentsText, toolCall } from "../../values/tool-calls.js";
import { mergeTools, toolDefinitions } from "../../values/tools.js";
import type { Output, Reader, RecordFormat } from "../format.js";
import { runDraft } from "../openhands/benchmark-run.js";

const RESULTS = new Set(["ObservationEvent", "AgentErrorEvent", "UserRejectObservation"]);

const isBaseState = (record: JsonObject): boolean =>
  record.kind === undefined &&
  isString(record.id) &&
  isObject(record.agent) &&
  ("workspace" in record || "max_iterations" in record);

/** The model's result as text: its content where it has one, else all that it says. */
function observationText(event: JsonObject): string {
  const observation = objectOrEmpty(event.observation);
  if (event.kind === "AgentErrorEvent") return resultText(event.error);
  if (event.kind === "UserRejectObservation") return resultText(event.rejection_reason);
  return resultText(observation.content ?? observation.output ?? observation.message ?? event.observation);
}

function failedResult(event: JsonObject): boolean {
  const observation = objectOrEmpty(event.observation);
  return (
    event.kind !== "ObservationEvent" ||
    observation.is_error === true ||
    (typeof observation.exit_code === "number" && observation.exit_code > 0)
  );
}

/** Gathers the events of one conversation. */
interface Conversation {
  add(event: JsonObject): void;
  /** Hands it over, with what a document says beside its events. */
  finish(document: JsonObject): void;
}

function openConversation(output: Output): Conversation {
  const talk = transcript(output.hold);
  const isNew = recordedOnce<string>((contents) => contents);
  let results = 0;
  let id: string | null = null;
  let model: string | null = null;
  let folder: unknown;
  let tools: readonly ToolDefinition[] = [];
  let signal: string | null = null;

  const addAnswer = (event: JsonObject): void => {
    const { timestamp } = event;
    const id = stringOrNull(event.llm_response_id);
    // Calls of one response come before their results.
    const response = id === null ? undefined : `${id} ${results}`;
    const message = objectOrEmpty(event.llm_message);
    const reasoning = stringOrNull(event.reasoning_content) ?? stringOrNull(message.reasoning_content) ?? "";
    if (event.kind === "MessageEvent") {
      signal = null;
      talk.answer({ text: contentText(message.content), reasoning, timestamp }, response);
      return;
    }
    const name = stringOrNull(event.tool_name) ?? "";
    const callId = stringOrNull(event.tool_call_id) ?? `event-${scalarText(event.id)}`;
    const call = toolCall(event.tool_call, callId) ?? { id: callId, name, arguments: argumentsText(event.action ?? {}) };
    signal = name === "finish" ? "finish" : null;
    talk.answer({ text: contentText(event.thought), reasoning, calls: [{ ...call, id: callId }], timestamp }, response);
  };

  const addMessage = (event: JsonObject): void => {
    if (event.source === "agent") addAnswer(event);
    else if (event.source !== "user") talk.dropped.add(DROPPED.environment);
    else talk.say("user", contentText(objectOrEmpty(event.llm_message).content), event.timestamp);
  };

  const addPrompt = (event: JsonObject): void => {
    if (event.kind === "SystemPromptEvent") talk.say("system", contentText(event.system_prompt), event.timestamp);
    else talk.dropped.add(DROPPED.systemUpdate);
    tools = mergeTools(tools, toolDefinitions(event.tools));
  };

  return {
    add: (event) => {
      const eventId = stringOrNull(event.id);
      if (isBaseState(event)) {
        id ??= eventId;
        model ??= stringOrNull(objectOrEmpty(objectOrEmpty(event.agent).llm).model);
        folder ??= objectOrEmpty(event.workspace).working_dir;
        return;
      }
      if (eventId !== null && !isNew(eventId, digest(event))) return talk.dropped.add(DROPPED.duplicate);
      const kind = scalarText(event.kind);
      if (kind === "ActionEvent") addAnswer(event);
      else if (kind === "MessageEvent") addMessage(event);
      else if (RESULTS.has(kind)) {
        results++;
        const content = output.fit(observationText(event));
        const result = { call_id: stringOrNull(event.tool_call_id), content, ...(failedResult(event) ? { is_error: true } : {}) };
        talk.observe(result, { isRefused: kind === "UserRejectObservation" });
      } else if (kind === "SystemPromptEvent" || kind === "SystemPromptUpdateEvent") addPrompt(event);
      else if (kind.startsWith("Condensation")) talk.dropped.add(DROPPED.compactSummary);
      else talk.dropped.add(unread(kind));
    },
    finish: (document) => output.conversation(runDraft(document, { id, model, folder, signal, tools, talk })),
  };
}

/** A benchmark's record is a conversation of its own; events that stand by themselves are one together. */
function openHandsReader(output: Output): Reader<JsonObject> {
  let loose: Conversation | undefined;
  return {
    accept: (record) => {
      if (!isRun(record)) {
        loose ??= openConversation(output);
        loose.add(record);
        return;
      }
      const own = openConversation(output);
      for (const event of objectsOf(record.history)) own.add(event);
      own.finish(record);
    },
    finish: () => loose?.finish({}),
  };
}

const isEvent = (record: JsonObject): boolean =>
  isString(record.kind) && /(?:Event|Observation)$/.test(record.kind) && isString(record.source);

const isRun = (record: JsonObject): boolean => record.kind === undefined && objectsOf(record.history).some(isEvent);

/** OpenHands V1: `events.jsonl`, a benchmark's `{instance_id, history: [...]}`, or a folder with `base_state.json` and one file per event. */
export const openHandsV1: RecordFormat = {
  name: "openhands-v1",
  sign: "events with `kind` such as MessageEvent and ActionEvent",
  recognises: (record) => isBaseState(record) || isEvent(record) || isRun(record),
  read: openHandsReader,
};
