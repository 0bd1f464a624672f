import type { Observation, ToolCall } from "@imprint/contracts";
import { joinBlocks } from "../../values/content-text.js";
import { isString, type JsonObject, objectOrEmpty, objectsOf, scalarText, stringOrNull } from "../../values/json.js";
import { argumentsText } from "../../values/tool-calls.js";

export interface Message {
  info: JsonObject;
  parts: JsonObject[];
}

/** What stands in a person's message where they ran a tool themselves. */
export const RAN_BY_USER = "The following tool was executed by the user";

const mediaText = (part: JsonObject): string => {
  const kind = scalarText(part.mime).split("/")[0] ?? "";
  return ["image", "audio", "video"].includes(kind) ? `[${kind}]` : "[file]";
};

/** Files of text stand in the message as text of their own. */
const isMedia = (part: JsonObject): boolean =>
  part.type === "file" && part.mime !== "text/plain" && part.mime !== "application/x-directory";

export interface UserParts {
  /** The person's words, with the files that the tool read for them; empty where all is the tool's own. */
  readonly text: string;
  readonly harness: number;
  readonly isCompaction: boolean;
  /** Whether a person ran the tool of the answer that follows. */
  readonly ranTool: boolean;
}

export function userParts(parts: readonly JsonObject[]): UserParts {
  const texts = parts.filter((part) => part.type === "text" && isString(part.text));
  const isReminder = (part: JsonObject): boolean =>
    part.ignored === true || (part.synthetic === true && scalarText(part.text).trimStart().startsWith("<system-reminder>"));
  const own = texts.filter((part) => part.synthetic !== true && part.ignored !== true);
  const media = parts.filter(isMedia).map(mediaText);
  const isPersons = own.length + media.length > 0;
  const kept = isPersons ? texts.filter((part) => !isReminder(part)) : [];
  return {
    text: joinBlocks([...kept.map((part) => scalarText(part.text)), ...media]),
    harness: texts.length - kept.length,
    isCompaction: parts.some((part) => part.type === "compaction"),
    ranTool: parts.some((part) => part.type === "subtask") || texts.some((part) => part.text === RAN_BY_USER),
  };
}

/** One answer of the model: a message holds several where the tool's loop went on within it. */
export interface AnswerStep {
  readonly texts: string[];
  readonly reasonings: string[];
  readonly calls: ToolCall[];
  readonly results: Observation[];
}

function toolResult(state: JsonObject): Pick<Observation, "content" | "is_error"> | null {
  const media = objectsOf(state.attachments).filter(isMediaAttachment).map(mediaText);
  if (state.status === "completed") return { content: joinBlocks([scalarText(state.output), ...media]) };
  if (state.status !== "error") return null;
  const { interrupted, output } = objectOrEmpty(state.metadata);
  return interrupted === true && isString(output) ? { content: output } : { content: scalarText(state.error), is_error: true };
}

const isMediaAttachment = (part: JsonObject): boolean => isMedia({ ...part, type: "file" });

/** An id of its own for each call of a message: every part is one, also where ids were redacted. */
function callIds(messageId: string): (part: JsonObject) => string {
  const used = new Map<string, number>();
  let unnamed = 0;
  return ({ callID }) => {
    const id = stringOrNull(callID) ?? `call-${messageId}-${unnamed++}`;
    const times = (used.get(id) ?? 0) + 1;
    used.set(id, times);
    return times === 1 ? id : `${id}-${times}`;
  };
}

export function answerSteps(parts: readonly JsonObject[], messageId: string): AnswerStep[] {
  const steps: AnswerStep[] = [];
  const idOf = callIds(messageId);
  const step = (): AnswerStep => {
    const last = steps.at(-1);
    if (last !== undefined) return last;
    const first = { texts: [], reasonings: [], calls: [], results: [] };
    steps.push(first);
    return first;
  };
  for (const part of parts) {
    if (part.type === "step-start") steps.push({ texts: [], reasonings: [], calls: [], results: [] });
    else if (part.type === "text" && isString(part.text) && part.ignored !== true) step().texts.push(part.text);
    else if (part.type === "reasoning" && isString(part.text)) step().reasonings.push(part.text);
    else if (part.type === "tool" && isString(part.tool)) {
      const state = objectOrEmpty(part.state);
      const id = idOf(part);
      step().calls.push({ id, name: part.tool, arguments: argumentsText(state.input) });
      const result = toolResult(state);
      if (result !== null) step().results.push({ call_id: id, ...result });
    }
  }
  return steps;
}
