import type { ToolCall } from "@imprint/contracts";
import { DROPPED } from "../../dropped.js";
import { type AgentPart, type Transcript, transcript } from "../../transcript.js";
import { joinBlocks } from "../../values/content-text.js";
import { isObject, isString, type JsonObject, objectOrEmpty, objectsOf, scalarText, stringOrNull } from "../../values/json.js";
import { timestampOrNull } from "../../values/timestamp.js";
import { argumentsText, toolCall } from "../../values/tool-calls.js";
import { handOver, type Output, type Reader, type RecordFormat } from "../format.js";
import { markdown, resultText } from "./results.js";

type Container = Record<string | number, unknown>;

/** A line of VS Code's log of changes: the whole state, a value set, elements put at a list's end, a value removed. */
const [INITIAL, SET, PUSH, REMOVE] = [0, 1, 2, 3];

const isChange = ({ kind, k, v }: JsonObject): boolean =>
  (kind === INITIAL && isObject(v) && (Array.isArray(v.requests) || typeof v.sessionId === "string")) ||
  ((kind === SET || kind === PUSH || kind === REMOVE) && Array.isArray(k));

const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null;

/** Whether a step of a path leads to a place that an object or a list can have, and to nothing that it inherits. */
const leads = (at: Container, key: unknown): key is string | number =>
  Array.isArray(at)
    ? Number.isInteger(key) && Number(key) >= 0 && Number(key) <= at.length
    : typeof key === "string" && key !== "__proto__";

/** Puts elements at the end of a list, of which nothing stays from the place `i` on. */
function push(at: Container, key: string | number, { v: added, i: from }: JsonObject): void {
  const list = Object.hasOwn(at, key) && Array.isArray(at[key]) ? (at[key] as unknown[]) : [];
  if (typeof from === "number") list.length = Math.min(list.length, Math.max(0, Math.trunc(from)));
  if (Array.isArray(added)) for (const one of added) list.push(one);
  at[key] = list;
}

/** Applies a change to the state. False where its path leads nowhere. */
function apply(state: Container, change: JsonObject): boolean {
  const path = Array.isArray(change.k) ? change.k : [];
  const last: unknown = path.at(-1);
  let at = state;
  for (const key of path.slice(0, -1)) {
    const next = leads(at, key) && Object.hasOwn(at, key) ? at[key] : undefined;
    if (!isContainer(next)) return false;
    at = next;
  }
  if (!leads(at, last)) return false;
  if (change.kind === PUSH) push(at, last, change);
  else at[last] = change.kind === SET ? change.v : undefined;
  return true;
}

const requestsOf = (state: JsonObject): readonly JsonObject[] => objectsOf(state.requests);

const baseName = (path: string): string => path.split(/[/\\]/).at(-1) ?? path;

/** A file or a symbol that stands in the text as a link. */
function reference({ name, inlineReference }: JsonObject): string {
  const { fsPath, path, uri, location } = objectOrEmpty(inlineReference);
  const place = objectOrEmpty(uri ?? objectOrEmpty(location).uri);
  const shown = [name, objectOrEmpty(inlineReference).name, fsPath, path, place.path].map(scalarText).find((one) => one !== "");
  return shown === undefined ? "" : `\`${baseName(shown)}\``;
}

/** What the model said, of an item of the response; null where the item is none of its words. */
function said(item: JsonObject): string | null {
  if (item.kind === undefined) return markdown(item.value ?? item);
  if (item.kind === "inlineReference") return reference(item);
  if (item.kind === "markdownContent" || item.kind === "markdownVuln") return markdown(item.content ?? item.value);
  return null;
}

const isInvocation = ({ kind }: JsonObject): boolean => kind === "toolInvocationSerialized" || kind === "toolInvocation";

/** How many items of a response are neither the model's words nor its calls: progress, edits as they were shown, questions. */
const asides = (response: readonly JsonObject[]): number =>
  response.filter((item) => said(item) === null && item.kind !== "thinking" && !isInvocation(item)).length;

/** The text behind the last call: what a request ended with. */
function lastWords(response: readonly JsonObject[]): string {
  const from = response.findLastIndex(isInvocation) + 1;
  return response
    .slice(from)
    .map((item) => said(item) ?? "")
    .join("");
}

/** The call of an invocation, where the screen's record holds its arguments. */
function callOf({ toolId, toolCallId, toolSpecificData, resultDetails }: JsonObject): ToolCall | null {
  const { kind, commandLine, command } = objectOrEmpty(toolSpecificData);
  const { original, userEdited } = objectOrEmpty(commandLine);
  const line = [userEdited, original, command].find(isString);
  const input = kind === "terminal" && line !== undefined ? { command: line } : objectOrEmpty(resultDetails).input;
  if (!isString(toolId) || !isString(toolCallId) || (!isString(input) && !isObject(input))) return null;
  return { id: toolCallId, name: toolId, arguments: argumentsText(input) };
}

/** How a person decided who did not let a call be, or went on without it. */
const REFUSED = new Set<unknown>([0, 5]);

function addResult(talk: Transcript, invocation: JsonObject, output: Output): void {
  const { toolSpecificData, resultDetails, isConfirmed } = invocation;
  const { terminalCommandOutput: printed, terminalCommandState: state } = objectOrEmpty(toolSpecificData);
  const embeds = objectOrEmpty(resultDetails).output;
  const text = isString(printed) ? printed : objectOrEmpty(printed).text;
  const content = isString(text) ? text : Array.isArray(embeds) ? joinBlocks(objectsOf(embeds).map(markdown)) : null;
  const { exitCode } = objectOrEmpty(state);
  const failed = (typeof exitCode === "number" && exitCode !== 0) || objectOrEmpty(resultDetails).isError === true;
  const result = { call_id: stringOrNull(invocation.toolCallId), ...(failed && { is_error: true }) };
  const isRefused = isConfirmed === false || REFUSED.has(objectOrEmpty(isConfirmed).type);
  talk.observe({ ...result, content: content === null ? null : output.fit(content) }, { isRefused });
}

/** Invocations are written again as they go on; the last one of an id holds most. */
const latest = (response: readonly JsonObject[]): readonly JsonObject[] => {
  const last = new Map(response.filter(isInvocation).map((item) => [item.toolCallId, item]));
  return response.filter((item) => !isInvocation(item) || !isString(item.toolCallId) || last.get(item.toolCallId) === item);
};

/** Reads an answer from what was shown of it, where the file does not hold what the model was sent and wrote. */
function readShown(talk: Transcript, request: JsonObject, contextOnly: "aborted" | undefined, output: Output): void {
  const { timestamp } = request;
  const response = objectsOf(request.response);
  let text = "";
  let reasoning = "";
  const flush = (part: AgentPart): void => {
    if (text.trim() !== "" || reasoning !== "" || part.calls !== undefined) talk.answer({ text, reasoning, timestamp, ...part });
    text = "";
    reasoning = "";
  };
  for (const item of latest(response)) {
    const words = said(item);
    if (words !== null) text += words;
    else if (item.kind === "thinking")
      reasoning = joinBlocks([
        reasoning,
        Array.isArray(item.value) ? item.value.filter(isString).join("") : markdown(item.value),
      ]);
    else if (isInvocation(item)) {
      const call = callOf(item);
      flush(call === null ? {} : { calls: [call] });
      if (call !== null) addResult(talk, item, output);
      else talk.partialCall(markdown(item.pastTenseMessage) || markdown(item.invocationMessage) || scalarText(item.toolId));
    }
  }
  flush({ contextOnly });
  talk.dropped.add(DROPPED.environment, asides(response));
}

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
  /** What a log of changes leads to; null of a document. */
  let state: Container | null = null;

  const readChat = (chat: JsonObject): void => {
    const talk = transcript(output.hold);
    const requests = requestsOf(chat);
    for (const request of requests) readRequest(talk, request, output);
    const last = requests.at(-1);
    const failed = stringOrNull(objectOrEmpty(objectOrEmpty(last?.result).errorDetails).message);
    handOver(output, talk, {
      id: stringOrNull(chat.sessionId),
      formatVersion: typeof chat.version === "number" ? String(chat.version) : null,
      agent: stringOrNull(chat.responderUsername) ?? "vscode-chat",
      model: stringOrNull(requests.findLast(({ modelId }) => isString(modelId))?.modelId),
      outcomeSignal: last !== undefined && isStopped(last) ? "canceled" : failed,
      startedAt: timestampOrNull(chat.creationDate),
    });
  };

  return {
    accept: (record) => {
      if (!isChange(record)) return readChat(record);
      state ??= {};
      if (record.kind === INITIAL && isObject(record.v)) state = record.v as Container;
      else if (record.kind === INITIAL || !apply(state, record)) output.badRecord();
    },
    finish: () => {
      if (state !== null) readChat(state as JsonObject);
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
