import { DROPPED } from "../../dropped.js";
import { factsOf } from "../../facts.js";
import { type Transcript, transcript } from "../../transcript.js";
import { contentText, joinBlocks, resultText } from "../../values/content-text.js";
import { arrayOrEmpty, isObject, isString, type JsonObject, objectOrEmpty, objectsOf, stringOrNull } from "../../values/json.js";
import { toolCall } from "../../values/tool-calls.js";
import { responseItem } from "../codex/item.js";
import { handOver, type Output, type RecordFormat } from "../format.js";
import { outcomeOfExit } from "../swe-agent/format.js";

/** How the templates of the agent begin what they put in the user's place after a command. */
const ENVIRONMENT =
  /^\s*(?:<(?:returncode|output|warning|exception|error)\b|Observation:|Please always provide|The last command |Tool call error|Format error|No tool calls|Command not executed\.)/i;

/** Version 1 ends with what the run handed in, in the user's place: the patch alone. */
const SUBMISSION = /^\s*diff --git /;

const isEnvironment = (message: JsonObject, text: string): boolean => {
  const extra = objectOrEmpty(message.extra);
  return (
    ENVIRONMENT.test(text) || SUBMISSION.test(text) || extra.returncode !== undefined || extra.interrupt_type === "FormatError"
  );
};

/** An answer of the Responses API, kept as the list of its items. */
function addResponse(talk: Transcript, items: readonly JsonObject[]): void {
  const read = items.map(responseItem);
  talk.answer({
    text: joinBlocks(read.flatMap((item) => (item.kind === "message" ? item.texts : []))),
    reasoning: joinBlocks(read.flatMap((item) => (item.kind === "reasoning" ? [item.text] : []))),
    calls: read.flatMap((item) => (item.kind === "call" ? [item.call] : [])),
  });
}

function addMessage(talk: Transcript, message: JsonObject, index: number, output: Output): void {
  const text = contentText(message.content);
  const { role } = message;
  if (message.object === "response") addResponse(talk, objectsOf(message.output));
  else if (message.type === "function_call_output" || role === "tool") {
    const call_id =
      stringOrNull(message.call_id) ?? stringOrNull(message.tool_call_id) ?? talk.openCalls()[0] ?? `result-${index}`;
    talk.observe({ call_id, content: output.fit(resultText(message.content ?? message.output)) }, { idsRepeat: true });
  } else if (role === "system") talk.say("system", text);
  else if (role === "assistant") {
    const calls = arrayOrEmpty(message.tool_calls).map((call, at) => toolCall(call, `call-${index}-${at}`));
    const timestamp = objectOrEmpty(message.extra).timestamp;
    const reasoning = isString(message.reasoning_content) ? message.reasoning_content : "";
    talk.answer({ text, reasoning, calls: calls.filter((call) => call !== null), timestamp });
  } else if (role === "user" && talk.hasAnswer() && isEnvironment(message, text))
    talk.observe({ call_id: null, content: output.fit(text) });
  else if (role === "user") talk.say("user", text);
  else if (role !== "exit") talk.dropped.add(DROPPED.environment);
}

function readRun(record: JsonObject, output: Output): void {
  const talk = transcript(output.hold);
  const messages = objectsOf(record.messages);
  messages.forEach((message, index) => {
    addMessage(talk, message, index, output);
  });
  const info = objectOrEmpty(record.info);
  const exit = objectOrEmpty(messages.findLast((message) => message.role === "exit")?.extra);
  const signal = stringOrNull(info.exit_status) ?? stringOrNull(exit.exit_status);
  handOver(output, talk, {
    formatVersion: stringOrNull(record.trajectory_format)?.replace(/^mini-swe-agent-/, "") ?? null,
    agent: "mini-swe-agent",
    model: stringOrNull(objectOrEmpty(objectOrEmpty(info.config).model).model_name),
    facts: factsOf({ folder: objectOrEmpty(objectOrEmpty(info.config).environment).cwd }),
    outcome: outcomeOfExit(signal),
    outcomeSignal: signal,
  });
}

/** The first versions wrote the bare messages: each answer holds one shell command, each next message its return code. */
function isBareRun(record: JsonObject): boolean {
  const messages = objectsOf(record.messages);
  const texts = (role: string): string[] =>
    messages.filter((message) => message.role === role).map((message) => contentText(message.content));
  return (
    texts("assistant").some((text) => /```(?:bash|mswea_bash_command)\n/.test(text)) &&
    texts("user").some((text) => text.startsWith("<returncode>"))
  );
}

const hasHeader = (record: JsonObject): boolean =>
  (isString(record.trajectory_format) && record.trajectory_format.startsWith("mini-swe-agent")) ||
  (isObject(record.info) && ("mini_version" in record.info || ("exit_status" in record.info && "model_stats" in record.info)));

/** mini-SWE-agent: `*.traj.json`, versions 1 and 1.1, and the bare message lists before them. */
export const miniSweAgent: RecordFormat = {
  name: "mini-swe-agent",
  sign: "`messages` with `trajectory_format` mini-swe-agent, or answers of one bash block each",
  recognises: (record) => Array.isArray(record.messages) && (hasHeader(record) || isBareRun(record)),
  read: (output) => ({ accept: (record) => readRun(record, output), finish: () => {} }),
};
