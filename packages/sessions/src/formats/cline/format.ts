import type { ToolCall } from "@imprint/contracts";
import { DROPPED } from "../../dropped.js";
import { factsOf, toldFolder } from "../../facts.js";
import { type Transcript, transcript } from "../../transcript.js";
import { contentText, joinBlocks, resultText } from "../../values/content-text.js";
import {
  isObject,
  isString,
  type JsonObject,
  objectOrEmpty,
  objectsOf,
  parseJson,
  scalarText,
  stringOrNull,
} from "../../values/json.js";
import { readParts } from "../../values/message-parts.js";
import { handOver, type Output, type RecordFormat } from "../format.js";
import { classifyBlock, isFailure, withoutDetails, wordsInResult } from "./user-text.js";

/** What Cline writes in the model's place when no answer came. */
const NO_ANSWER = "Failure: I did not provide a response.";
const FINISH = "attempt_completion";

const blocksOf = (message: JsonObject): readonly JsonObject[] =>
  isString(message.content) ? [{ type: "text", text: message.content }] : objectsOf(message.content);

/** Whether all that a tool of the command line was asked for failed: it says so of each part. */
function isRefused(content: unknown): boolean {
  const parts = objectsOf(isString(content) ? [parseJson(content)] : content);
  return parts.length > 0 && parts.every(({ success }) => success === false);
}

/** A tool's result in the making: its text can be spread over the blocks that follow its headline. */
interface OpenResult {
  readonly call_id: string | null;
  readonly texts: string[];
  readonly failed: boolean;
}

/** Reads a user message: results and the harness's notes, with a person's words anywhere between them. */
function addUser(talk: Transcript, message: JsonObject, open: ToolCall[], output: Output): void {
  const words: string[] = [];
  let result: OpenResult | undefined;
  const close = (): void => {
    if (result === undefined) return;
    const { call_id, texts, failed } = result;
    const content = withoutDetails(texts.join("\n"));
    const said = wordsInResult(content);
    if (said !== null) words.push(said);
    talk.observe({ call_id, content: output.fit(content), ...(failed || isFailure(content) ? { is_error: true } : {}) });
    result = undefined;
  };
  /** The first call of that tool which has no result yet; tools called in plain text have none. */
  const take = (matches: (call: ToolCall) => boolean): string | null => {
    const at = open.findIndex(matches);
    return at < 0 ? null : (open.splice(at, 1)[0]?.id ?? null);
  };
  const addText = (text: string): void => {
    const block = classifyBlock(text);
    if (block.kind === "plain" && result !== undefined) {
      result.texts.push(text);
      return;
    }
    close();
    if (block.kind === "harness") talk.dropped.add(DROPPED.harness);
    else if (block.kind === "summary") talk.dropped.add(DROPPED.compactSummary);
    else if (block.kind === "result")
      result = { call_id: take(({ name }) => name === block.tool), texts: [text], failed: block.failed };
    else if (block.kind === "reproach") talk.observe({ call_id: null, content: text });
    else words.push(withoutDetails(block.kind === "person" ? block.text : text));
  };

  for (const block of blocksOf(message)) {
    if (block.type === "tool_result") {
      close();
      const call_id = stringOrNull(block.tool_use_id);
      take(({ id }) => id === call_id);
      result = { call_id, texts: [resultText(block.content)], failed: block.is_error === true || isRefused(block.content) };
      close();
    } else if (isString(block.text)) addText(block.text);
    else (result?.texts ?? words).push(contentText([block]));
  }
  close();
  talk.say("user", joinBlocks(words), message.ts);
}

function readTask(record: JsonObject, output: Output): void {
  const talk = transcript(output.hold);
  talk.say("system", scalarText(record.system_prompt));
  let open: ToolCall[] = [];
  let model: string | null = null;
  let folder: string | null = null;
  let provider: unknown;
  let signal: string | null = null;
  objectsOf(record.messages).forEach((message, index) => {
    if (message.role === "user") {
      folder ??= toldFolder(contentText(message.content));
      addUser(talk, message, open, output);
      return;
    }
    const { text, reasoning, calls } = readParts(message.content, `call-${index}`);
    if (text.startsWith(NO_ANSWER) && calls.length === 0) {
      talk.dropped.add(DROPPED.synthetic);
      return;
    }
    const { modelId, id, providerId = provider } = objectOrEmpty(message.modelInfo);
    model = stringOrNull(modelId) ?? stringOrNull(id) ?? model;
    provider = providerId;
    signal = calls.some(({ name }) => name === FINISH) || text.includes(`<${FINISH}>`) ? FINISH : null;
    open = [...calls];
    talk.answer({ text, reasoning, calls, timestamp: message.ts });
  });
  handOver(output, talk, {
    id: stringOrNull(record.sessionId),
    formatVersion: stringOrNull(objectOrEmpty(record.origin).version),
    agent: "cline",
    model,
    facts: factsOf({ folder, provider }),
    outcomeSignal: signal,
  });
}

const says = (message: JsonObject, mark: RegExp): boolean =>
  blocksOf(message).some((block) => isString(block.text) && mark.test(block.text));

const isOwn = (message: JsonObject): boolean =>
  message.role === "user"
    ? says(message, /<environment_details>\n#|^\[TASK RESUMPTION\] |^<user_input mode="/)
    : isObject(message.modelInfo) && isString(message.modelInfo.modelId) && isString(message.modelInfo.providerId);

const isRun = (record: JsonObject): boolean =>
  isString(record.sessionId) && isObject(record.origin) && Array.isArray(record.messages);

/**
 * Cline: `api_conversation_history.json` of a task, the messages that went to the model; its forks write the same. And
 * `<session>.messages.json` of its command line.
 */
export const cline: RecordFormat = {
  name: "cline",
  sign: "messages with `modelInfo`, or with `<environment_details>` beside a person's words, or with an `origin`",
  recognises: (record) => isRun(record) || objectsOf(record.messages).some((message) => isString(message.role) && isOwn(message)),
  read: (output) => ({ accept: (record) => readTask(record, output), finish: () => {} }),
};
