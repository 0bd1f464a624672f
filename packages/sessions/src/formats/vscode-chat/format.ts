import { draft } from "../../draft.js";
import { DROPPED } from "../../dropped.js";
import { type Transcript, transcript } from "../../transcript.js";
import { isObject, isString, type JsonObject, objectOrEmpty, objectsOf, scalarText, stringOrNull } from "../../values/json.js";
import { timestampOrNull } from "../../values/timestamp.js";
import { toolCall } from "../../values/tool-calls.js";
import type { Output, Reader, RecordFormat } from "../format.js";
import { isChange, replay, requestsOf } from "./replay.js";
import { resultText } from "./results.js";
import { asides, lastWords, readShown } from "./shown.js";

const thoughtOf = ({ thinking }: JsonObject): string => {
  const { text } = objectOrEmpty(thinking);
  return Array.isArray(text) ? text.filter(isString).join("") : scalarText(text);
};

/** Whether the person stopped the answer; the state came for the flag. */
const isStopped = ({ isCanceled, modelState }: JsonObject): boolean =>
  isCanceled === true || objectOrEmpty(modelState).value === 2;

/** The extension keeps beside a response what the model wrote, round by round, and what its tools answered. */
function readRounds(talk: Transcript, request: JsonObject, rounds: readonly JsonObject[], output: Output): void {
  const { toolCallResults } = objectOrEmpty(objectOrEmpty(request.result).metadata);
  const { timestamp } = request;
  for (const round of rounds) {
    const calls = objectsOf(round.toolCalls).flatMap((call, at) => toolCall(call, `${scalarText(round.id)}-${at}`) ?? []);
    talk.answer({ text: scalarText(round.response), reasoning: thoughtOf(round), calls, timestamp });
    talk.dropped.add(DROPPED.compactSummary, isString(round.summary) ? 1 : 0);
    for (const { id } of calls) {
      const content = resultText(objectOrEmpty(toolCallResults)[id]);
      talk.observe({ call_id: id, content: content === null ? null : output.fit(content) });
    }
  }
  const response = objectsOf(request.response);
  talk.dropped.add(DROPPED.environment, asides(response));
  // Older versions of the extension leave the last words out.
  const words = lastWords(response);
  if (objectsOf(rounds.at(-1)?.toolCalls).length > 0 && words.trim() !== "")
    talk.answer({ text: words, timestamp, contextOnly: isStopped(request) ? "aborted" : undefined });
}

function readRequest(talk: Transcript, request: JsonObject, output: Output): void {
  const { message, timestamp, result } = request;
  const asked = isString(message) ? message : scalarText(objectOrEmpty(message).text);
  if (request.shouldBeRemovedOnSend !== undefined || request.isHidden === true) return void talk.dropped.add(DROPPED.abandoned);
  talk.say("user", asked, timestamp);
  const rounds = objectsOf(objectOrEmpty(objectOrEmpty(result).metadata).toolCallRounds);
  if (rounds.length > 0) readRounds(talk, request, rounds, output);
  else readShown(talk, request, isStopped(request) ? "aborted" : undefined, output);
}

function chatReader(output: Output): Reader<JsonObject> {
  const log = replay();
  let isLog = false;

  const readChat = (chat: JsonObject): void => {
    const talk = transcript(output.hold);
    const requests = requestsOf(chat);
    for (const request of requests) readRequest(talk, request, output);
    const last = requests.at(-1);
    const failed = stringOrNull(objectOrEmpty(objectOrEmpty(last?.result).errorDetails).message);
    output.conversation(
      draft({
        id: stringOrNull(chat.sessionId),
        formatVersion: typeof chat.version === "number" ? String(chat.version) : null,
        agent: stringOrNull(chat.responderUsername) ?? "vscode-chat",
        model: stringOrNull(requests.findLast(({ modelId }) => isString(modelId))?.modelId),
        outcomeSignal: last !== undefined && isStopped(last) ? "canceled" : failed,
        startedAt: timestampOrNull(chat.creationDate),
        steps: talk.steps(),
        dropped: talk.dropped.entries(),
      }),
    );
  };

  return {
    accept: (record) => {
      if (!isChange(record)) return readChat(record);
      isLog = true;
      if (!log.accept(record)) output.badRecord();
    },
    finish: () => {
      if (isLog) readChat(log.state());
    },
  };
}

const isRequest = (value: unknown): boolean =>
  isObject(value) && isString(value.requestId) && (isString(value.message) || isObject(value.message));

/** VS Code's chats (Copilot and others): `chatSessions/<session>.json`, and `.jsonl`, a log of changes to the same object. */
export const vscodeChat: RecordFormat = {
  name: "vscode-chat",
  sign: "`requests` of `message` and `response`, or lines of `kind` and `v` that make them",
  recognises: (record) => (record.kind === 0 && isChange(record)) || objectsOf(record.requests).some(isRequest),
  read: chatReader,
};
