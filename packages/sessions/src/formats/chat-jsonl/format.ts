import { DROPPED } from "../../dropped.js";
import { arrayOrEmpty, isString, type JsonObject, stringOrNull } from "../../values/json.js";
import { toolDefinitions } from "../../values/tools.js";
import { verdictOf } from "../../values/verdict.js";
import { handOver, type Output, type RecordFormat } from "../format.js";
import { behindSystem, conversation, isConversation, pair } from "./messages.js";

const isSide = (value: unknown): boolean => isString(value) || isConversation(value);

/** ms-swift's question and answer, with earlier pairs in `history`. */
const queryMessages = ({ history, query, response }: JsonObject): JsonObject[] =>
  [...arrayOrEmpty(history).map(arrayOrEmpty), [query, response]].flatMap(([asked, said]) => pair(asked, said));

function messagesOf(record: JsonObject): readonly JsonObject[] | null {
  for (const list of [record.messages, record.trajectory, record.chosen_messages]) if (isConversation(list)) return list;
  if (isSide(record.prompt) && isSide(record.completion)) return pair(record.prompt, record.completion);
  if (isString(record.query) && isString(record.response)) return queryMessages(record);
  return null;
}

function readRecord(record: JsonObject, output: Output): void {
  const messages = messagesOf(record);
  if (messages === null) {
    output.badRecord();
    return;
  }
  const talk = conversation(behindSystem(record, messages), output);
  if (isConversation(record.rejected_messages)) talk.dropped.add(DROPPED.rejected);
  const tools = toolDefinitions(record.tools ?? record.functions);
  handOver(output, talk, { model: stringOrNull(record.model), tools, ...verdictOf(record) });
}

/** Chat records of OpenAI fine-tuning, TRL, ms-swift and benchmarks' runs: one conversation a line, or a list of them. */
export const chatJsonl: RecordFormat = {
  name: "chat-jsonl",
  sign: "records with `messages` or `trajectory` of `role` and `content`, or `prompt` and `completion`",
  recognises: (record) => messagesOf(record) !== null,
  read: (output) => ({ accept: (record) => readRecord(record, output), finish: () => {} }),
};
