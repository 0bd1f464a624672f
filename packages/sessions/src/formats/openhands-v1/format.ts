import type { ToolDefinition } from "@imprint/contracts";
import { draft } from "../../draft.js";
import { DROPPED } from "../../dropped.js";
import { transcript } from "../../transcript.js";
import { contentText, resultText } from "../../values/content-text.js";
import { isObject, isString, type JsonObject, objectOrEmpty, scalarText, stringOrNull, toJson } from "../../values/json.js";
import { toolCall } from "../../values/tool-calls.js";
import { mergeTools, toolDefinitions } from "../../values/tools.js";
import type { Output, Reader, RecordFormat } from "../format.js";

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

function openHandsReader(output: Output): Reader<JsonObject> {
  const talk = transcript(output.hold);
  const seen = new Set<string>();
  let id: string | null = null;
  let model: string | null = null;
  let tools: readonly ToolDefinition[] = [];
  let signal: string | null = null;

  const addAnswer = (event: JsonObject): void => {
    const { timestamp } = event;
    const response = stringOrNull(event.llm_response_id) ?? undefined;
    const message = objectOrEmpty(event.llm_message);
    const reasoning = stringOrNull(event.reasoning_content) ?? stringOrNull(message.reasoning_content) ?? "";
    if (event.kind === "MessageEvent") {
      signal = null;
      talk.answer({ text: contentText(message.content), reasoning, timestamp }, response);
      return;
    }
    const name = stringOrNull(event.tool_name) ?? "";
    const callId = stringOrNull(event.tool_call_id) ?? `event-${scalarText(event.id)}`;
    const call = toolCall(event.tool_call, callId) ?? { id: callId, name, arguments: toJson(event.action ?? {}) };
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
    accept: (event) => {
      const eventId = stringOrNull(event.id);
      if (isBaseState(event)) {
        id ??= eventId;
        model ??= stringOrNull(objectOrEmpty(objectOrEmpty(event.agent).llm).model);
        return;
      }
      if (eventId !== null && seen.has(eventId)) return talk.dropped.add(DROPPED.duplicate);
      if (eventId !== null) seen.add(eventId);
      const kind = scalarText(event.kind);
      if (kind === "ActionEvent") addAnswer(event);
      else if (kind === "MessageEvent") addMessage(event);
      else if (RESULTS.has(kind)) {
        const content = output.fit(observationText(event));
        talk.observe({ call_id: stringOrNull(event.tool_call_id), content, ...(failedResult(event) ? { is_error: true } : {}) });
      } else if (kind === "SystemPromptEvent" || kind === "SystemPromptUpdateEvent") addPrompt(event);
      else if (kind.startsWith("Condensation")) talk.dropped.add(DROPPED.compactSummary);
    },
    finish: () => {
      const steps = talk.steps();
      output.conversation(
        draft({ id, agent: "openhands", model, outcomeSignal: signal, tools, steps, dropped: talk.dropped.entries() }),
      );
    },
  };
}

/** OpenHands V1: `events.jsonl`, or a folder with `base_state.json` and one file per event. */
export const openHandsV1: RecordFormat = {
  name: "openhands-v1",
  sign: "events with `kind` such as MessageEvent and ActionEvent",
  recognises: (record) =>
    isBaseState(record) || (isString(record.kind) && /(?:Event|Observation)$/.test(record.kind) && isString(record.source)),
  read: openHandsReader,
};
