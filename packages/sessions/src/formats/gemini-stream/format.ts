import { DROPPED } from "../../dropped.js";
import { transcript } from "../../transcript.js";
import { resultText } from "../../values/content-text.js";
import { isString, type JsonObject, objectOrEmpty, scalarText, stringOrNull } from "../../values/json.js";
import { argumentsText } from "../../values/tool-calls.js";
import { handOver, type Output, type Reader, type RecordFormat } from "../format.js";

function streamReader(output: Output): Reader<JsonObject> {
  const talk = transcript(output.hold);
  let init: JsonObject = {};
  let signal: string | null = null;
  let answers = 0;
  /** What the model said so far in this answer, which comes in pieces. */
  let said = "";
  let begun: unknown;
  /** Whether a result came in since the last call: then what the model says next is another answer. */
  let isAnswered = false;

  const flush = (): void => {
    if (said !== "") talk.answer({ text: said, timestamp: begun }, `answer-${answers}`);
    said = "";
  };
  const endAnswer = (): void => {
    flush();
    answers++;
    isAnswered = false;
  };
  const addMessage = ({ role, content, timestamp }: JsonObject): void => {
    if (!isString(content)) return void output.badRecord();
    if (isAnswered || role === "user") endAnswer();
    if (role === "user") talk.say("user", content, timestamp);
    else if (said === "") begun = timestamp;
    if (role === "assistant") said += content;
  };
  const addCall = ({ tool_id, tool_name, parameters, timestamp }: JsonObject): void => {
    if (!isString(tool_id) || !isString(tool_name)) return void output.badRecord();
    if (isAnswered) endAnswer();
    flush();
    const call = { id: tool_id, name: tool_name, arguments: argumentsText(parameters) };
    talk.answer({ calls: [call], timestamp }, `answer-${answers}`);
  };
  const addResult = (event: JsonObject): void => {
    const failed = event.status === "error";
    const error = stringOrNull(objectOrEmpty(event.error).message);
    const content = event.output === undefined || event.output === null ? error : resultText(event.output);
    const result = { call_id: stringOrNull(event.tool_id), ...(failed && { is_error: true }) };
    flush();
    isAnswered = true;
    talk.observe({ ...result, content: content === null ? null : output.fit(content) });
  };

  return {
    accept: (event) => {
      const { type } = event;
      if (type === "init") init = event;
      else if (type === "message") addMessage(event);
      else if (type === "tool_use") addCall(event);
      else if (type === "tool_result") addResult(event);
      else if (type === "result") signal = stringOrNull(event.status);
      else talk.dropped.add(DROPPED.environment);
    },
    finish: () => {
      flush();
      handOver(output, talk, {
        id: stringOrNull(init.session_id),
        agent: "gemini-cli",
        model: stringOrNull(init.model),
        outcomeSignal: signal,
      });
    },
  };
}

/** What `gemini --output-format stream-json` prints. Answers come in pieces; of a result only what the terminal shows is told. */
export const geminiStream: RecordFormat = {
  name: "gemini-stream",
  sign: "events `init`, `message` with `content`, `tool_use` with `tool_name` and `tool_result` with `tool_id`",
  recognises: ({ type, timestamp, session_id, model, role, content, message, tool_id, tool_name, status }) => {
    if (!isString(timestamp)) return false;
    if (type === "init") return isString(session_id) && isString(model);
    if (type === "message") return (role === "user" || role === "assistant") && isString(content) && message === undefined;
    if (!isString(tool_id)) return false;
    return (type === "tool_use" && isString(tool_name)) || (type === "tool_result" && scalarText(status) !== "");
  },
  read: streamReader,
};
