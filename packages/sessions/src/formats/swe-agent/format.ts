import type { Outcome } from "@imprint/contracts";
import { DROPPED } from "../../dropped.js";
import { factsOf } from "../../facts.js";
import { type Transcript, transcript } from "../../transcript.js";
import { contentText, resultText } from "../../values/content-text.js";
import {
  arrayOrEmpty,
  isObject,
  isString,
  type JsonObject,
  objectOrEmpty,
  objectsOf,
  parseJson,
  stringOrNull,
} from "../../values/json.js";
import { toolCall } from "../../values/tool-calls.js";
import { flagVerdict, NO_VERDICT, verdictOf } from "../../values/verdict.js";
import { handOver, type Output, type RecordFormat } from "../format.js";

/** A run that handed in its work may have succeeded; one that ended by a limit or an error did not. */
export const outcomeOfExit = (status: string | null): Outcome =>
  status === null || /^submitted/i.test(status) ? "unknown" : "failure";

/** The turns of a row of a data set, which calls the model `ai`. */
const isTurns = (value: unknown): value is readonly JsonObject[] =>
  Array.isArray(value) &&
  value.some((turn) => isObject(turn) && turn.role === "ai") &&
  value.every((turn) => isObject(turn) && isString(turn.role) && (isString(turn.text) || isString(turn.system_prompt)));

/** The messages of a run: its history, or the attempts where a file holds no history. */
function messagesOf(record: JsonObject): readonly JsonObject[] {
  const history = objectsOf(record.history);
  if (history.length > 0) return history;
  if (isTurns(record.trajectory))
    return record.trajectory.map(({ role, text, system_prompt }) => ({
      role: role === "ai" ? "assistant" : role,
      content: text ?? system_prompt ?? "",
    }));
  const steps = objectsOf(record.trajectory);
  const opening = objectsOf(steps[0]?.query ?? steps[0]?.messages);
  const attempts = steps.flatMap((step): JsonObject[] => [
    { role: "assistant", content: step.response ?? step.thought ?? "" },
    { role: "user", content: step.observation ?? "" },
  ]);
  return [...opening, ...attempts];
}

function addMessage(talk: Transcript, message: JsonObject, index: number, output: Output): void {
  const text = contentText(message.content);
  if (message.is_demo === true || message.message_type === "demonstration") talk.dropped.add(DROPPED.demonstration);
  else if (message.role === "system") talk.say("system", text);
  else if (message.role === "assistant") {
    const calls = arrayOrEmpty(message.tool_calls).map((call, at) => toolCall(call, `call-${index}-${at}`));
    const reasoning = objectsOf(message.thinking_blocks).map((block) => (isString(block.thinking) ? block.thinking : ""));
    talk.answer({
      text: text || contentText(message.thought),
      reasoning: reasoning.join("\n\n"),
      calls: calls.filter((call) => call !== null),
    });
  } else if (message.role === "tool") {
    const ids = arrayOrEmpty(message.tool_call_ids ?? [message.tool_call_id]).filter(isString);
    const [id = talk.openCalls()[0] ?? `result-${index}`, ...further] = ids;
    const content = output.fit(resultText(message.content));
    for (const call_id of [id, ...further]) talk.observe({ call_id, content }, { idsRepeat: true });
  } else if (!talk.hasAnswer()) talk.say("user", text);
  else if (text.trim() !== "") talk.observe({ call_id: null, content: output.fit(text) });
}

function readRun(record: JsonObject, output: Output): void {
  const talk = transcript(output.hold);
  messagesOf(record).forEach((message, index) => {
    addMessage(talk, message, index, output);
  });
  const info = objectOrEmpty(record.info);
  const replay = isString(record.replay_config) ? parseJson(record.replay_config) : record.replay_config;
  const config = objectOrEmpty(objectOrEmpty(objectOrEmpty(replay).agent).model);
  const signal = stringOrNull(info.exit_status) ?? stringOrNull(record.exit_status);
  const judged = [flagVerdict("target", record.target), verdictOf(record)].find((one) => one !== null && one !== NO_VERDICT);
  const { state } = objectsOf(record.trajectory)[0] ?? {};
  const { working_dir: folder } = objectOrEmpty(isString(state) ? parseJson(state) : state);
  handOver(output, talk, {
    formatVersion: stringOrNull(info.swe_agent_version),
    agent: "swe-agent",
    model: stringOrNull(config.name) ?? stringOrNull(record.model_name),
    facts: factsOf({ folder }),
    ...(judged ?? { outcome: outcomeOfExit(signal), outcomeSignal: signal }),
  });
}

const isHistory = (value: unknown): boolean =>
  objectsOf(value).length > 0 && objectsOf(value).every((item) => isString(item.role) && item.content !== undefined);
const isAttempt = (value: unknown): boolean =>
  isObject(value) && isString(value.action) && ("observation" in value || "response" in value);

/** SWE-agent: `<instance>.traj`, with tool calls or with actions in plain text. */
export const sweAgent: RecordFormat = {
  name: "swe-agent",
  sign: "an object with `history` of messages or `trajectory` of actions and observations",
  recognises: (record) =>
    isHistory(record.history) ||
    isTurns(record.trajectory) ||
    arrayOrEmpty(record.trajectory).some((step) => isAttempt(step) && !("source" in objectOrEmpty(step))),
  read: (output) => ({ accept: (record) => readRun(record, output), finish: () => {} }),
};
