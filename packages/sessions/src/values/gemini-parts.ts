import type { Observation, ToolCall } from "@imprint/contracts";
import { joinBlocks, resultText } from "./content-text.js";
import { arrayOrEmpty, isObject, isString, type JsonObject, objectOrEmpty, stringOrNull } from "./json.js";
import { argumentsText } from "./tool-calls.js";

/** What the parts of one content of the Gemini API hold. */
export interface GeminiParts {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly ToolCall[];
  /** `call_id` is null where the part names no call. */
  readonly results: readonly Observation[];
}

const mediaKind = (part: JsonObject): string | null => {
  const media = isObject(part.inlineData) ? part.inlineData : isObject(part.fileData) ? part.fileData : null;
  const kind = media === null ? null : (stringOrNull(media.mimeType) ?? "file").split("/")[0];
  return kind === null || kind === undefined ? null : `[${kind === "application" || kind === "text" ? "file" : kind}]`;
};

/** A function's response: its `output`, its `error`, or any other JSON. */
function functionResult(response: unknown): Pick<Observation, "content" | "is_error"> {
  const { output, error } = objectOrEmpty(response);
  if (error !== undefined && error !== null && output === undefined) return { content: resultText(error), is_error: true };
  return { content: resultText(output ?? response) };
}

/** Reads a part, a list of parts, or plain text; what the parts say in a row is one text. */
export function geminiParts(content: unknown, fallbackId: string): GeminiParts {
  const parts = Array.isArray(content) ? arrayOrEmpty(content) : [content];
  const said: string[] = [];
  const thoughts: string[] = [];
  const calls: ToolCall[] = [];
  const results: Observation[] = [];
  for (const part of parts) {
    if (isString(part)) said.push(part);
    if (!isObject(part)) continue;
    const { functionCall: call, functionResponse: response } = part;
    if (isString(part.text)) (part.thought === true ? thoughts : said).push(part.text);
    else if (isObject(call) && isString(call.name))
      calls.push({
        id: stringOrNull(call.id) ?? `${fallbackId}-${calls.length}`,
        name: call.name,
        arguments: argumentsText(call.args),
      });
    else if (isObject(response)) results.push({ call_id: stringOrNull(response.id), ...functionResult(response.response) });
    else said.push(mediaKind(part) ?? "");
  }
  return { text: said.join(""), reasoning: joinBlocks(thoughts), calls, results };
}
