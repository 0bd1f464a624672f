import type { Observation, ToolCall } from "@imprint/contracts";
import { DROPPED } from "../../dropped.js";
import { contentText, joinBlocks, resultText } from "../../values/content-text.js";
import { arrayOrEmpty, isObject, isString, type JsonObject, objectsOf, stringOrNull } from "../../values/json.js";
import { argumentsText } from "../../values/tool-calls.js";
import type { Output } from "../format.js";
import { withoutTrailingReminders } from "./harness.js";

interface LineHead {
  readonly timestamp: string | null;
  readonly isSidechain: boolean;
  readonly kind: "user" | "assistant" | "other";
}

/** What one line of a log holds, with only what the session needs of it. */
export interface LogLine extends LineHead {
  /** Why the line's text is left out, where the line itself says so. */
  readonly left: string | null;
  readonly messageId: string | null;
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
  const content = fit(withoutTrailingReminders(resultText(block.content)));
  return { call_id: stringOrNull(block.tool_use_id), content, ...(block.is_error === true ? { is_error: true } : {}) };
}

function toolUse(block: JsonObject, fallbackId: string): ToolCall[] {
  if (!isString(block.name)) return [];
  return [{ id: stringOrNull(block.id) ?? fallbackId, name: block.name, arguments: argumentsText(block.input) }];
}

/** One list for all that are empty: a log has hundreds of thousands of them. */
const NONE: readonly never[] = [];
const NOTHING_SAID = { left: null, messageId: null, text: null, reasoning: "", calls: NONE, results: NONE };

/** What a message holds; null when it has no usable body. */
function readMessage(line: JsonObject, index: number, output: Output): Omit<LogLine, keyof LineHead> | null {
  const message = line.message;
  if (!isObject(message)) return null;
  const content = message.content;
  const blocks = objectsOf(content);
  if (!isString(content) && (!Array.isArray(content) || (blocks.length === 0 && arrayOrEmpty(content).length > 0))) return null;
  const ofType = (type: string): readonly JsonObject[] => blocks.filter((block) => block.type === type);
  const isAnswer = line.type === "assistant";
  const said = blocks.filter((block) => isSaid(block, isAnswer));
  const some = <Item>(items: readonly Item[]): readonly Item[] => (items.length === 0 ? NONE : items.slice());
  return {
    left: leftOut(line, message),
    messageId: isAnswer ? stringOrNull(message.id) : null,
    text: isString(content) ? content : said.length === 0 ? null : joinBlocks(said.map(contentText)),
    reasoning: joinBlocks(ofType("thinking").map((block) => (isString(block.thinking) ? block.thinking : ""))),
    calls: some(ofType("tool_use").flatMap((block, at) => toolUse(block, `call-${index}-${at}`))),
    results: some(ofType("tool_result").map((block) => toolResult(block, output.fit))),
  };
}

/** The id of a line, and of the one that it follows. */
export const idsOf = (line: JsonObject): { readonly uuid: string | null; readonly parent: string | null } => ({
  uuid: stringOrNull(line.uuid),
  parent: stringOrNull(line.parentUuid) ?? stringOrNull(line.logicalParentUuid),
});

/** Reads a line; null when it claims to be a message and has no usable body. */
export function readLine(line: JsonObject, index: number, output: Output): LogLine | null {
  const kind = line.type === "user" || line.type === "assistant" ? line.type : "other";
  const said = kind === "other" ? NOTHING_SAID : readMessage(line, index, output);
  if (said === null) return null;
  // Named one by one: objects made by spreading were several times slower to make and to read.
  return {
    timestamp: stringOrNull(line.timestamp),
    isSidechain: line.isSidechain === true,
    kind,
    left: said.left,
    messageId: said.messageId,
    text: said.text,
    reasoning: said.reasoning,
    calls: said.calls,
    results: said.results,
  };
}

const isSaid = (block: JsonObject, isAnswer: boolean): boolean => block.type === "text" || (!isAnswer && block.type === "image");
