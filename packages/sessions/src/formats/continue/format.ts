import type { ToolCall } from "@imprint/contracts";
import { DROPPED } from "../../dropped.js";
import { factsOf } from "../../facts.js";
import { type Transcript, transcript } from "../../transcript.js";
import { contentText, joinBlocks } from "../../values/content-text.js";
import { isObject, isString, type JsonObject, objectOrEmpty, objectsOf, scalarText, stringOrNull } from "../../values/json.js";
import { toolCall } from "../../values/tool-calls.js";
import { handOver, type Output, type RecordFormat } from "../format.js";

const itemsText = (items: unknown): string => joinBlocks(objectsOf(items).map(({ content }) => contentText(content)));

/** Of the calls of an answer; the editor's older versions kept one. */
const statesOf = ({ toolCallStates, toolCallState }: JsonObject): readonly JsonObject[] =>
  isObject(toolCallState) ? [toolCallState] : objectsOf(toolCallStates);

function callsOf(message: JsonObject, states: readonly JsonObject[], index: number): ToolCall[] {
  const written = objectsOf(message.toolCalls);
  const calls = written.length > 0 ? written : states.map((state) => state.toolCall);
  return calls.flatMap((call, at) => toolCall(call, `call-${index}-${at}`) ?? []);
}

/** Results of the calls that were answered: one that a person refused has none. */
function addResults(talk: Transcript, states: readonly JsonObject[], output: Output): void {
  for (const { toolCallId, toolCall: call, status, output: items } of states) {
    if (status !== "done" && status !== "errored") continue;
    talk.observe({
      call_id: stringOrNull(toolCallId) ?? stringOrNull(objectOrEmpty(call).id),
      content: output.fit(itemsText(items)),
      ...(status === "errored" && { is_error: true }),
    });
  }
}

function readSession(record: JsonObject, output: Output): void {
  const talk = transcript(output.hold);
  let model: string | null = null;
  let reasoning = "";
  objectsOf(record.history).forEach((item, index) => {
    const message = objectOrEmpty(item.message);
    const text = contentText(message.content);
    if (isString(item.conversationSummary)) talk.dropped.add(DROPPED.compactSummary);
    if (message.role === "system") talk.say("system", text);
    // The files and outputs that a person named stand before their words.
    else if (message.role === "user") talk.say("user", joinBlocks([itemsText(item.contextItems), text]));
    else if (message.role === "thinking") reasoning = joinBlocks([reasoning, text]);
    else if (message.role === "tool") talk.observe({ call_id: stringOrNull(message.toolCallId), content: output.fit(text) });
    else if (message.role === "assistant") {
      model = stringOrNull(objectOrEmpty(message.usage).model) ?? model;
      const states = statesOf(item);
      const own = joinBlocks([reasoning, scalarText(objectOrEmpty(item.reasoning).text)]);
      const contextOnly = states.some(({ status }) => status === "canceled") ? "refused" : undefined;
      talk.answer({ text, reasoning: own, calls: callsOf(message, states, index), contextOnly });
      addResults(talk, states, output);
      reasoning = "";
    } else output.badRecord();
  });
  const facts = factsOf({ folder: record.workspaceDirectory });
  handOver(output, talk, { id: stringOrNull(record.sessionId), agent: "continue", model, facts });
}

/** Continue: a session of its command line or editor, `~/.continue/sessions/<id>.json`. */
export const continueSession: RecordFormat = {
  name: "continue",
  sign: "`sessionId` and `history` of items with a `message`",
  recognises: (record) => isString(record.sessionId) && objectsOf(record.history).some(({ message }) => isObject(message)),
  read: (output) => ({ accept: (record) => readSession(record, output), finish: () => {} }),
};
