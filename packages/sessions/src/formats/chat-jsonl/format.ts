import { DROPPED } from "../../dropped.js";
import { arrayOrEmpty, isString, type JsonObject, stringOrNull } from "../../values/json.js";
import { toolDefinitions } from "../../values/tools.js";
import { verdictOf } from "../../values/verdict.js";
import { handOver, type Output, type Reader, type RecordFormat } from "../format.js";
import { behindSystem, chat, isConversation, isExchange, pair } from "./messages.js";

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

function readRecord(record: JsonObject, messages: readonly JsonObject[], output: Output): void {
  const { talk, add } = chat(output);
  behindSystem(record, messages).forEach(add);
  if (isConversation(record.rejected_messages)) talk.dropped.add(DROPPED.rejected);
  const tools = toolDefinitions(record.tools ?? record.functions);
  handOver(output, talk, { model: stringOrNull(record.model), tools, ...verdictOf(record) });
}

function chatReader(output: Output): Reader<JsonObject> {
  const { talk, add } = chat(output); // of lines
  return {
    accept: (record) => {
      const messages = messagesOf(record);
      if (messages !== null) readRecord(record, messages, output);
      else if (isString(record.role)) add(record);
      else output.badRecord();
    },
    finish: () => handOver(output, talk, {}),
  };
}

/** Chat records of OpenAI fine-tuning, TRL, ms-swift and benchmarks' runs: one conversation a line, or a message a line, as Kimi CLI and gptme write. */
export const chatJsonl: RecordFormat = {
  name: "chat-jsonl",
  sign: "records with `messages` or `trajectory` of `role` and `content`, or `prompt` and `completion`, or such messages as lines",
  recognises: (record, head) => messagesOf(record) !== null || isExchange(head),
  read: chatReader,
};
