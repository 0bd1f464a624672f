import { unread } from "../../dropped.js";
import { factsOf } from "../../facts.js";
import { transcript } from "../../transcript.js";
import { contentText, resultText } from "../../values/content-text.js";
import { arrayOrEmpty, isObject, isString, type JsonObject, stringOrNull } from "../../values/json.js";
import { toolCall } from "../../values/tool-calls.js";
import { handOver, type Output, type Reader, type RecordFormat } from "../format.js";
import { sessionDialect } from "../pi/session-header.js";

function stsReader(output: Output): Reader<JsonObject> {
  const talk = transcript(output.hold);
  let header: JsonObject = {};
  let model: string | null = null;
  let count = 0;

  const addMessage = (message: JsonObject): void => {
    const index = count++;
    const { role, timestamp } = message;
    const text = contentText(message.content);
    if (role === "system" || role === "user") talk.say(role, text, timestamp);
    else if (role === "assistant") {
      model = stringOrNull(message.model) ?? model;
      const calls = arrayOrEmpty(message.toolCalls).map((call, at) => toolCall(call, `call-${index}-${at}`));
      talk.answer({
        text,
        reasoning: contentText(message.reasoningContent),
        calls: calls.filter((call) => call !== null),
        timestamp,
      });
    } else if (role === "tool") {
      const call_id = stringOrNull(message.toolCallId) ?? talk.openCalls()[0] ?? `result-${index}`;
      talk.observe({ call_id, content: output.fit(resultText(message.content)) }, { idsRepeat: true });
    }
  };

  return {
    accept: (record) => {
      if (record.type === "session") header = record;
      else if (record.type !== "message") talk.dropped.add(unread(record.type));
      else if (isObject(record.message) && isString(record.message.role)) addMessage(record.message);
      else output.badRecord();
    },
    finish: () => {
      const id = stringOrNull(header.id);
      const facts = factsOf({ folder: header.cwd });
      handOver(output, talk, { id, agent: stringOrNull(header.harness), model, facts });
    },
  };
}

/** The Hub's session trace format: a `session` line that names the harness, then one message a line. */
export const sts: RecordFormat = {
  name: "sts",
  sign: "a line of type `session` with `harness`, then lines of type `message`",
  recognises: (_, head) => sessionDialect(head) === "sts",
  read: stsReader,
};
