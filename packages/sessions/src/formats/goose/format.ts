import { parentSession } from "../../draft.js";
import { DROPPED } from "../../dropped.js";
import { factsOf } from "../../facts.js";
import { isObject, isString, type JsonObject, objectOrEmpty, objectsOf, stringOrNull } from "../../values/json.js";
import { chat, isConversation, isMessage } from "../chat-jsonl/messages.js";
import { handOver, type Output, type RecordFormat } from "../format.js";

const isInferred = ({ metadata }: JsonObject): boolean => isObject(objectOrEmpty(metadata).inference);

/** A session's messages without what Goose said: the time of a request, what stands for turns made shorter, answers to /compact. */
function gooseChat(output: Output): ReturnType<typeof chat> {
  const { talk, add } = chat(output);
  let tells = false;
  const addOwn = (message: JsonObject): void => {
    tells ||= isInferred(message);
    const isHidden = objectOrEmpty(message.metadata).userVisible === false;
    if (isHidden || (tells && message.role === "assistant" && !isInferred(message))) talk.dropped.add(DROPPED.harness);
    else add(message);
  };
  return { talk, add: addOwn };
}

const handOverAs = (session: JsonObject, { talk }: ReturnType<typeof chat>, output: Output): void =>
  handOver(output, talk, {
    id: stringOrNull(session.id),
    agent: "goose",
    model: stringOrNull(objectOrEmpty(session.model_config).model_name),
    facts: factsOf({ folder: session.working_dir, provider: session.provider_name }),
    parent: parentSession(stringOrNull(session.parent_session_id), "sub-agent"),
  });

/** Goose: what `goose session export --format json` prints, or a session's facts in a line and its messages behind it. */
export const goose: RecordFormat = {
  name: "goose",
  sign: "`working_dir` with a `conversation`, or before lines of messages",
  recognises: (record) =>
    (isString(record.working_dir) && isConversation(record.conversation)) ||
    (typeof record.created === "number" && Array.isArray(record.content) && isMessage(record)),
  read: (output) => {
    let session: JsonObject = {};
    const lines = gooseChat(output);
    return {
      accept: (record) => {
        if (Array.isArray(record.conversation)) {
          const whole = gooseChat(output);
          objectsOf(record.conversation).forEach(whole.add);
          handOverAs(record, whole, output);
        } else if (isString(record.working_dir)) session = record;
        else if (isMessage(record)) lines.add(record);
        else output.badRecord();
      },
      finish: () => handOverAs(session, lines, output),
    };
  },
};
