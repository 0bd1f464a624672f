import type { Observation, ToolCall } from "@imprint/contracts";
import { draft } from "../../draft.js";
import { DROPPED } from "../../dropped.js";
import { type Transcript, transcript } from "../../transcript.js";
import { geminiParts } from "../../values/gemini-parts.js";
import { isObject, isString, type JsonObject, objectsOf, scalarText, stringOrNull } from "../../values/json.js";
import { toolCall } from "../../values/tool-calls.js";
import type { Output, Reader, RecordFormat } from "../format.js";
import { contentsOf, readContents } from "./contents.js";
import { isHarness, isShell } from "./harness.js";
import { type Message, messages } from "./messages.js";

/** What the model's messages are called; Qwen Code wrote the same files at first. */
const ANSWER = new Set(["gemini", "qwen"]);
const SLASH_COMMAND = /^[/?][\w-]*(?:\s|$)/;

interface Recorded {
  readonly call: ToolCall;
  readonly result: Observation | null;
}

/** Whether a call is one that was written down before, and not another of the same id. */
const isAgain = (earlier: Recorded, { call, result }: Recorded): boolean =>
  earlier.call.name === call.name &&
  earlier.call.arguments === call.arguments &&
  (result === null || earlier.result?.content === result.content);

/** What was seen of the calls so far: the tool writes both them and their results down twice. */
interface Seen {
  readonly calls: Map<string, Recorded>;
  readonly results: Set<string | null>;
  /** What a person ran since the last request; it goes ahead of the next one. */
  readonly ran: string[];
}

function addUser(talk: Transcript, { record }: Message, seen: Seen, isAnswered: boolean): void {
  const { text, results } = geminiParts(record.content, "");
  for (const result of results) if (!seen.results.has(result.call_id)) talk.observe(result);
  if (text.trim() === "") return;
  if (isHarness(text)) talk.dropped.add(DROPPED.harness);
  else if (SLASH_COMMAND.test(text.trim()) && !isAnswered) talk.dropped.add(DROPPED.localCommand);
  else if (isShell(text) && !isAnswered) seen.ran.push(text);
  else talk.say("user", [...seen.ran.splice(0), text].join("\n\n"), record.timestamp);
}

const thought = ({ subject, description }: JsonObject): string =>
  [isString(subject) && subject !== "" ? `**${subject}**` : "", scalarText(description)].filter((text) => text !== "").join("\n");

function addAnswer(talk: Transcript, { record, results }: Message, index: number, seen: Seen): void {
  const content = geminiParts(record.content, `call-${index}`);
  const recorded = objectsOf(record.toolCalls).flatMap((call, at) => {
    const made = toolCall({ ...call, arguments: call.args }, `call-${index}-${at}`);
    return made === null ? [] : [{ call: made, result: results[at] ?? null }];
  });
  // The content names the same calls again where the tool recorded its whole history.
  const named = recorded.length > 0 ? recorded : content.calls.map((call) => ({ call, result: null }));
  const own = named.filter(({ call, result }) => {
    const earlier = seen.calls.get(call.id);
    return earlier === undefined || !isAgain(earlier, { call, result });
  });
  talk.dropped.add(DROPPED.repeatedCall, named.length - own.length);
  for (const one of own) seen.calls.set(one.call.id, one);
  const thoughts = objectsOf(record.thoughts).map(thought).join("\n\n");
  const calls = own.map(({ call }) => call);
  const ids = talk.answer({ text: content.text, reasoning: thoughts || content.reasoning, calls, timestamp: record.timestamp });
  own.forEach(({ call, result }, at) => {
    if (result === null) return;
    seen.results.add(call.id);
    talk.observe({ ...result, call_id: ids[at] ?? null });
  });
}

function geminiReader(output: Output): Reader<JsonObject> {
  const log = messages(output);
  let id: string | null = null;
  let isChat = false;

  return {
    accept: (record) => {
      const contents = contentsOf(record);
      if (contents !== null) {
        readContents(contents, output);
        return;
      }
      isChat = true;
      id ??= stringOrNull(record.sessionId);
      log.accept(record);
    },
    finish: () => {
      if (!isChat) return;
      const talk = transcript();
      const seen: Seen = { calls: new Map(), results: new Set(), ran: [] };
      const list = log.list();
      list.forEach((message, index) => {
        const { type } = message.record;
        if (type === "user") addUser(talk, message, seen, ANSWER.has(scalarText(list[index + 1]?.record.type)));
        else if (ANSWER.has(scalarText(type))) addAnswer(talk, message, index, seen);
        else talk.dropped.add(DROPPED.environment);
      });
      talk.dropped.add(DROPPED.localCommand, seen.ran.length);
      for (const [reason, count] of log.dropped.entries()) talk.dropped.add(reason, count);
      output.conversation(
        draft({
          id,
          agent: list.some(({ record }) => record.type === "qwen") ? "qwen-code" : "gemini-cli",
          model: stringOrNull(list.findLast(({ record }) => isString(record.model))?.record.model),
          steps: talk.steps(),
          dropped: talk.dropped.entries(),
        }),
      );
    },
  };
}

const isMessage = (record: JsonObject): boolean =>
  isString(record.id) && ANSWER.has(scalarText(record.type)) && record.content !== undefined && isString(record.timestamp);

/** Gemini CLI: ~/.gemini/tmp/<project>/chats/session-*.json (one document) and .jsonl (appended), and saved checkpoints. */
export const geminiCli: RecordFormat = {
  name: "gemini-cli",
  sign: "`sessionId` and `projectHash` with messages of type `gemini`, or contents of `role` and `parts`",
  recognises: (record) =>
    (isString(record.sessionId) && isString(record.projectHash)) ||
    isMessage(record) ||
    isString(record.$rewindTo) ||
    (isObject(record.$set) && Object.keys(record).length === 1) ||
    contentsOf(record) !== null,
  read: geminiReader,
};
