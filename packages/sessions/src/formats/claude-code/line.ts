import type { Observation, ToolCall } from "@imprint/contracts";
import { DROPPED } from "../../dropped.js";
import { NOT_RECORDED } from "../../transcript.js";
import { contentText, joinBlocks, resultText } from "../../values/content-text.js";
import {
  arrayOrEmpty,
  isObject,
  isString,
  type JsonObject,
  objectOrEmpty,
  objectsOf,
  scalarText,
  stringOrNull,
} from "../../values/json.js";
import { argumentsText } from "../../values/tool-calls.js";
import type { Output } from "../format.js";
import { classifyUserText, withoutTrailingReminders } from "./harness.js";

export interface ResponseMarks {
  readonly id: string;
  readonly request: string;
  /** Of the prompt, which is the same for all lines of a response. */
  readonly usage: string;
  readonly isEnd: boolean;
}

interface LineHead {
  readonly timestamp: string | null;
  readonly isSidechain: boolean;
  readonly kind: "user" | "assistant" | "other";
  /** Taken over from the session that this one forks. */
  readonly isCopied: boolean;
  /** How a line came that was typed while the model worked: attached to the turn, or named by the queue only. */
  readonly queued: "attached" | "named" | null;
}

/** What one line of a log holds, with only what the session needs of it. */
export interface LogLine extends LineHead {
  /** Why the line's text is left out, where the line itself says so. */
  readonly left: string | null;
  /** What shows that two lines are of one response of the model. */
  readonly response: ResponseMarks | null;
  /** Null where the line says nothing, as one that only holds a result. */
  readonly text: string | null;
  readonly reasoning: string;
  readonly calls: readonly ToolCall[];
  readonly results: readonly Observation[];
}

function leftOut(line: JsonObject, message: JsonObject): string | null {
  if (line.isCompactSummary === true || line.isVisibleInTranscriptOnly === true) return DROPPED.compactSummary;
  if (line.isMeta === true) return DROPPED.harness;
  if (line.type === "assistant" && (line.isApiErrorMessage === true || message.model === "<synthetic>")) return DROPPED.synthetic;
  return null;
}

function toolResult(block: JsonObject, fit: Output["fit"]): Observation {
  const isHidden = scalarText(objectOrEmpty(block.content).type).endsWith("_redacted_result");
  const content = isHidden ? NOT_RECORDED : fit(withoutTrailingReminders(resultText(block.content)));
  return { call_id: stringOrNull(block.tool_use_id), content, ...(block.is_error === true ? { is_error: true } : {}) };
}

function toolUse(block: JsonObject, fallbackId: string): ToolCall[] {
  if (!isString(block.name)) return [];
  return [{ id: stringOrNull(block.id) ?? fallbackId, name: block.name, arguments: argumentsText(block.input) }];
}

/** One list for all that are empty: a log has hundreds of thousands of them. */
const NONE: readonly never[] = [];
const NOTHING_SAID = { left: null, response: null, text: null, reasoning: "", calls: NONE, results: NONE };

function responseMarks(line: JsonObject, message: JsonObject): ResponseMarks | null {
  const id = stringOrNull(message.id);
  if (id === null) return null;
  const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens } = isObject(message.usage) ? message.usage : {};
  const usage = [input_tokens, cache_read_input_tokens, cache_creation_input_tokens].map(scalarText).join(" ");
  return { id, request: scalarText(line.requestId), usage, isEnd: stringOrNull(message.stop_reason) !== null };
}

/** What a message holds; null when it has no usable body. */
function readMessage(line: JsonObject, index: number, output: Output): Omit<LogLine, keyof LineHead> | null {
  const message = line.message;
  if (!isObject(message)) return null;
  const content = message.content;
  const blocks = objectsOf(content);
  if (!isString(content) && (!Array.isArray(content) || (blocks.length === 0 && arrayOrEmpty(content).length > 0))) return null;
  const ofType = (type: string): readonly JsonObject[] => blocks.filter((block) => block.type === type);
  const isAnswer = line.type === "assistant";
  const said = blocks.filter(isSaid);
  const some = <Item>(items: readonly Item[]): readonly Item[] => (items.length === 0 ? NONE : items.slice());
  return {
    left: leftOut(line, message),
    response: isAnswer ? responseMarks(line, message) : null,
    text: isString(content) ? content : said.length === 0 ? null : joinBlocks(said.map(contentText)),
    reasoning: joinBlocks(ofType("thinking").map((block) => (isString(block.thinking) ? block.thinking : ""))),
    calls: some(ofType("tool_use").flatMap((block, at) => toolUse(block, `call-${index}-${at}`))),
    results: some(blocks.filter((block) => isResult(block, isAnswer)).map((block) => toolResult(block, output.fit))),
  };
}

/** Who else than a person can wait for the model: tasks that ended, other agents, the harness itself. */
const isPersons = ({ commandMode, origin, isMeta }: JsonObject): boolean =>
  isMeta !== true &&
  ["", "prompt", "bash"].includes(scalarText(commandMode)) &&
  (!isObject(origin) || origin.kind === undefined || origin.kind === "human");

/** What a person typed while the model worked, which newer builds attach to the turn. */
function readAttachment({ attachment }: JsonObject): Omit<LogLine, keyof LineHead> | null {
  if (!isObject(attachment) || attachment.type !== "queued_command") return null;
  const said = contentText(attachment.prompt);
  const text = attachment.commandMode === "bash" ? `<bash-input>${said}</bash-input>` : said;
  const isHeard = isPersons(attachment) || classifyUserText(text).kind === "note";
  return { ...NOTHING_SAID, text, left: isHeard ? null : DROPPED.harness };
}

/** What is shown to the model beside a request, or between its answers: as text, by the type of the attachment. */
const SHOWN: Readonly<Record<string, (attachment: JsonObject) => unknown>> = {
  file: ({ content }) => objectOrEmpty(objectOrEmpty(content).file).content,
  directory: ({ content }) => content,
  selected_lines_in_ide: ({ content }) => content,
  edited_text_file: ({ snippet }) => snippet,
  hook_blocking_error: ({ blockingError }) => objectOrEmpty(blockingError).blockingError,
  diagnostics: ({ files }) =>
    objectsOf(files)
      .flatMap(({ uri, diagnostics }) =>
        objectsOf(diagnostics).map(({ message }) => `${scalarText(uri)}: ${scalarText(message)}`),
      )
      .join("\n"),
};

function shownText({ attachment }: JsonObject, fit: Output["fit"]): string | null {
  const one = objectOrEmpty(attachment);
  const { type, displayPath, filename, path, hookName } = one;
  const text = isString(type) && Object.hasOwn(SHOWN, type) ? SHOWN[type]?.(one) : null;
  return isString(text) && text !== "" ? `${[displayPath, filename, path, hookName, type].find(isString)}\n${fit(text)}` : null;
}

/** Whether `claude -p` printed the line: in a session's file lines have ids and parents of their own there, and `sessionId`. */
export const isPrinted = (record: JsonObject): boolean =>
  isString(record.session_id) && ["sessionId", "parentUuid", "isSidechain"].every((key) => record[key] === undefined);

/** The id of a line, and of the one that it follows. */
export const idsOf = (line: JsonObject): { readonly uuid: string | null; readonly parent: string | null } => ({
  uuid: stringOrNull(line.uuid),
  parent: stringOrNull(line.parentUuid) ?? stringOrNull(line.logicalParentUuid),
});

/** What a line says, without when and where. */
export const contentsOf = ({ kind, text, reasoning, calls, results, response }: LogLine): unknown => [
  kind,
  text,
  reasoning,
  calls,
  results,
  response?.id,
];

/** Reads a line; null when it claims to be a message and has no usable body. */
export function readLine(line: JsonObject, index: number, output: Output): LogLine | null {
  const isMessage = line.type === "user" || line.type === "assistant";
  const attached = line.type === "attachment" ? readAttachment(line) : null;
  const said = isMessage ? readMessage(line, index, output) : (attached ?? NOTHING_SAID);
  if (said === null) return null;
  const kind = line.type === "assistant" ? "assistant" : isMessage || attached !== null ? "user" : "other";
  // Named one by one: objects made by spreading were several times slower to make and to read.
  return {
    timestamp: stringOrNull(line.timestamp),
    isSidechain: line.isSidechain === true,
    kind,
    isCopied: isObject(line.forkedFrom) || (stringOrNull(line.requestSessionId) ?? line.sessionId) !== line.sessionId,
    queued: attached === null ? null : "attached",
    left: said.left,
    response: said.response,
    text: said.text ?? (kind === "other" ? shownText(line, output.fit) : null),
    reasoning: said.reasoning,
    calls: said.calls,
    results: said.results,
  };
}

/** In an answer stands what a tool of the provider told the model, such as its advisor. */
const isResult = ({ type }: JsonObject, isAnswer: boolean): boolean =>
  (isAnswer ? /_tool_result$/ : /^tool_result$/).test(scalarText(type));

const isSaid = ({ type }: JsonObject): boolean => /^(?:text|image|document)$/.test(scalarText(type));
