import { parentSession } from "../../draft.js";
import { DROPPED } from "../../dropped.js";
import { factsOf } from "../../facts.js";
import { isObject, isString, type JsonObject, objectOrEmpty, objectsOf, stringOrNull } from "../../values/json.js";
import { conversation, isConversation } from "../chat-jsonl/messages.js";
import { handOver, type Output, type RecordFormat } from "../format.js";

const isInferred = ({ metadata }: JsonObject): boolean => isObject(objectOrEmpty(metadata).inference);

function readSession(session: JsonObject, messages: readonly JsonObject[], output: Output): void {
  const tells = messages.some(isInferred);
  // The time before a request, what stands for turns that were made shorter, and answers to commands such as /compact.
  const isGoose = (one: JsonObject): boolean =>
    objectOrEmpty(one.metadata).userVisible === false || (tells && one.role === "assistant" && !isInferred(one));
  const said = messages.filter((one) => !isGoose(one));
  const talk = conversation(said, output);
  talk.dropped.add(DROPPED.harness, messages.length - said.length);
  handOver(output, talk, {
    id: stringOrNull(session.id),
    agent: "goose",
    model: stringOrNull(objectOrEmpty(session.model_config).model_name),
    facts: factsOf({ folder: session.working_dir, provider: session.provider_name }),
    parent: parentSession(stringOrNull(session.parent_session_id), "sub-agent"),
  });
}

/** Goose: what `goose session export --format json` prints, or a session's facts in a line and its messages behind it. */
export const goose: RecordFormat = {
  name: "goose",
  sign: "`working_dir` with a `conversation`, or before lines of messages",
  recognises: ({ working_dir: folder, conversation: said, message_count: count }) =>
    isString(folder) && (isConversation(said) || count !== undefined),
  read: (output) => {
    let session: JsonObject = {};
    const messages: JsonObject[] = [];
    return {
      accept: (record) => {
        if (Array.isArray(record.conversation)) readSession(record, objectsOf(record.conversation), output);
        else if (isString(record.working_dir)) session = record;
        else if (isConversation([record])) messages.push(record);
        else output.badRecord();
      },
      finish: () => messages.length > 0 && readSession(session, messages, output),
    };
  },
};
