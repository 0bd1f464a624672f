import type { ToolCall, ToolDefinition } from "@imprint/contracts";
import { DROPPED, unread } from "../../dropped.js";
import { transcript } from "../../transcript.js";
import { contentText, resultText } from "../../values/content-text.js";
import {
  arrayOrEmpty,
  isObject,
  isString,
  type JsonObject,
  objectOrEmpty,
  objectsOf,
  scalarText,
  stringOrNull,
  toJson,
} from "../../values/json.js";
import { digest, recordedOnce } from "../../values/recorded-once.js";
import { argumentsText } from "../../values/tool-calls.js";
import { mergeTools, toolDefinitions } from "../../values/tools.js";
import type { Output, Reader, RecordFormat } from "../format.js";
import { runDraft } from "../openhands/benchmark-run.js";

/** Actions that steer the agent and are no call of the model. */
const CONTROL = new Set([
  "null",
  "change_agent_state",
  "recall",
  "condensation",
  "condensation_request",
  "start",
  "pause",
  "resume",
  "stop",
]);
const END_ACTIONS = new Set(["finish", "reject"]);
/** Keys of an action's arguments that the harness adds. */
const ADDED = new Set([
  "thought",
  "blocking",
  "hidden",
  "confirmation_state",
  "impl_source",
  "translated_ipython_code",
  "security_risk",
]);

interface Answer {
  /** Of the response: its id, for as long as its contents agree. */
  readonly key: string | undefined;
  readonly text: string | null;
  readonly reasoning: string;
  readonly calls: readonly JsonObject[];
}

/** What the model really answered, where the event still carries it. */
function answerOf(metadata: JsonObject): Answer {
  const response = objectOrEmpty(metadata.model_response);
  const message = objectOrEmpty(objectsOf(response.choices)[0]?.message);
  return {
    key:
      isString(response.id) && response.id !== ""
        ? `${response.id} ${digest([message.content, response.created, response.usage])}`
        : undefined,
    text: message.content === undefined || message.content === null ? null : contentText(message.content),
    reasoning: isString(message.reasoning_content) ? message.reasoning_content : "",
    calls: objectsOf(message.tool_calls),
  };
}

function callOf(event: JsonObject, metadata: JsonObject, answer: Answer): ToolCall {
  const args = objectOrEmpty(event.args);
  const id = stringOrNull(metadata.tool_call_id) ?? `event-${scalarText(event.id)}`;
  const written = objectOrEmpty(answer.calls.find((call) => call.id === id)?.function).arguments;
  const own = Object.fromEntries(Object.entries(args).filter(([key]) => !ADDED.has(key)));
  return {
    id,
    name: stringOrNull(metadata.function_name) ?? scalarText(event.action),
    arguments: written === undefined ? toJson(own) : argumentsText(written),
  };
}

function failedResult(event: JsonObject): boolean {
  const exit = objectOrEmpty(objectOrEmpty(event.extras).metadata).exit_code;
  return event.observation === "error" || event.success === false || (typeof exit === "number" && exit > 0);
}

/** Gathers the events of one conversation. */
interface Conversation {
  add(event: JsonObject): void;
  /** Hands it over, with what a document says beside its events. */
  finish(document: JsonObject): void;
}

function openConversation(output: Output): Conversation {
  const talk = transcript(output.hold);
  const callIds = new Map<unknown, string>();
  const isNew = recordedOnce<string>((contents) => contents);
  let tools: readonly ToolDefinition[] = [];
  let model: string | null = null;
  let signal: string | null = null;

  const addAction = (event: JsonObject): void => {
    const args = objectOrEmpty(event.args);
    const { action, timestamp } = event;
    const metadata = objectOrEmpty(event.tool_call_metadata);
    if (action === "system") {
      talk.say("system", contentText(args.content), timestamp);
      tools = mergeTools(tools, toolDefinitions(args.tools));
    } else if (event.source === "user" && action === "message")
      talk.say("user", contentText(args.content ?? event.message), timestamp);
    else if (event.source !== "agent") talk.dropped.add(DROPPED.environment);
    else if (action === "message" && metadata.tool_call_id === undefined) {
      signal = null;
      talk.answer({ text: contentText(args.content ?? event.message), timestamp });
    } else if (CONTROL.has(scalarText(action))) talk.dropped.add(unread("action", action));
    else {
      const answer = answerOf(metadata);
      const call = callOf(event, metadata, answer);
      callIds.set(event.id, call.id);
      model = stringOrNull(objectOrEmpty(metadata.model_response).model) ?? model;
      signal = END_ACTIONS.has(scalarText(action)) ? scalarText(action) : null;
      talk.answer(
        { text: answer.text ?? contentText(args.thought), reasoning: answer.reasoning, calls: [call], timestamp },
        answer.key,
      );
    }
  };

  const addObservation = (event: JsonObject): void => {
    const named = stringOrNull(objectOrEmpty(event.tool_call_metadata).tool_call_id);
    const call_id = named ?? callIds.get(event.cause) ?? null;
    if (call_id === null) {
      talk.dropped.add(DROPPED.environment);
      return;
    }
    const content = output.fit(resultText(event.content ?? event.message));
    talk.observe({ call_id, content, ...(failedResult(event) ? { is_error: true } : {}) });
  };

  const add = (event: JsonObject): void => {
    // Actions that were never put into the stream all have the id -1.
    const id = typeof event.id === "number" && event.id < 0 ? "" : scalarText(event.id);
    if (id !== "" && !isNew(id, digest(event))) talk.dropped.add(DROPPED.duplicate);
    else if (isString(event.observation)) addObservation(event);
    else if (isString(event.action)) addAction(event);
    else talk.dropped.add(unread(event.type));
  };

  return { add, finish: (document) => output.conversation(runDraft(document, { model, signal, tools, talk })) };
}

/** A document is a conversation of its own; events that stand by themselves, as in a folder of files, are one together. */
function openHandsReader(output: Output): Reader<JsonObject> {
  let loose: Conversation | undefined;
  return {
    accept: (record) => {
      const events = eventsOf(record);
      if (events.length === 0) {
        loose ??= openConversation(output);
        loose.add(record);
        return;
      }
      const own = openConversation(output);
      for (const event of events) own.add(event);
      own.finish(record);
    },
    finish: () => loose?.finish({}),
  };
}

/** The observation of a pair answers the pair's action, also where neither has an id. */
function pairEvents(pair: readonly unknown[], index: number): readonly JsonObject[] {
  const [action, observation] = pair;
  if (!isObject(action) || !isObject(observation)) return pair.filter(isObject);
  const known = typeof action.id === "number" && action.id >= 0;
  const id = known ? action.id : `pair-${index}`;
  return [
    { ...action, id },
    { ...observation, cause: known ? (observation.cause ?? id) : id },
  ];
}

/** The events of a document that holds them in a list, or in pairs of action and observation (evaluations before 0.14). */
const eventsOf = (record: JsonObject): readonly JsonObject[] =>
  arrayOrEmpty(record.trajectory ?? record.history).flatMap((item, index) =>
    Array.isArray(item) ? pairEvents(item, index) : isObject(item) ? [item] : [],
  );

const isEvent = (value: unknown): boolean =>
  isObject(value) &&
  value.kind === undefined &&
  isString(value.source) &&
  (isString(value.action) || isString(value.observation));

/** OpenHands V0: a list of events, `{trajectory: [...]}`, a benchmark's `{instance_id, history: [...]}`, or one file per event. */
export const openHandsV0: RecordFormat = {
  name: "openhands-v0",
  sign: "events with `source` and `action` or `observation`",
  recognises: (record) => isEvent(record) || eventsOf(record).some(isEvent),
  read: openHandsReader,
};
