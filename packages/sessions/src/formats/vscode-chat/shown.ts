import type { ToolCall } from "@imprint/contracts";
import { DROPPED } from "../../dropped.js";
import type { AgentPart, Transcript } from "../../transcript.js";
import { joinBlocks } from "../../values/content-text.js";
import { isObject, isString, type JsonObject, objectOrEmpty, objectsOf, scalarText, stringOrNull } from "../../values/json.js";
import { argumentsText } from "../../values/tool-calls.js";
import type { Output } from "../format.js";
import { markdown } from "./results.js";

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
export const asides = (response: readonly JsonObject[]): number =>
  response.filter((item) => said(item) === null && item.kind !== "thinking" && !isInvocation(item)).length;

/** The text behind the last call: what a request ended with. */
export function lastWords(response: readonly JsonObject[]): string {
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

function addResult(talk: Transcript, invocation: JsonObject, output: Output): void {
  const { toolSpecificData, resultDetails } = invocation;
  const { terminalCommandOutput: printed, terminalCommandState: state } = objectOrEmpty(toolSpecificData);
  const embeds = objectOrEmpty(resultDetails).output;
  const text = isString(printed) ? printed : objectOrEmpty(printed).text;
  const content = isString(text) ? text : Array.isArray(embeds) ? joinBlocks(objectsOf(embeds).map(markdown)) : null;
  const { exitCode } = objectOrEmpty(state);
  const failed = (typeof exitCode === "number" && exitCode !== 0) || objectOrEmpty(resultDetails).isError === true;
  const result = { call_id: stringOrNull(invocation.toolCallId), ...(failed && { is_error: true }) };
  talk.observe({ ...result, content: content === null ? null : output.fit(content) });
}

/** Invocations are written again as they go on; the last one of an id holds most. */
const latest = (response: readonly JsonObject[]): readonly JsonObject[] => {
  const last = new Map(response.filter(isInvocation).map((item) => [item.toolCallId, item]));
  return response.filter((item) => !isInvocation(item) || !isString(item.toolCallId) || last.get(item.toolCallId) === item);
};

/** Reads an answer from what was shown of it, where the file does not hold what the model was sent and wrote. */
export function readShown(talk: Transcript, request: JsonObject, contextOnly: "aborted" | undefined, output: Output): void {
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
