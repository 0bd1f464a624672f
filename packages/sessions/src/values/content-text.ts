import { arrayOrEmpty, isObject, isString, objectOrEmpty, toJson } from "./json.js";

const IMAGE_TYPES = new Set([
  "image",
  "image_url",
  "input_image",
  "document",
  "audio",
  "input_audio",
  "file",
  "video_url",
  "audio_url",
]);

/** Nesting of content in content that is followed; what lies deeper is no format's. */
const MAX_DEPTH = 8;

function partText(part: unknown, depth: number): string {
  if (isString(part)) return part;
  if (!isObject(part)) return "";
  if (isString(part.text)) return part.text;
  if (isString(part.type) && IMAGE_TYPES.has(part.type)) return `[${part.type.replace("input_", "").replace("_url", "")}]`;
  if (isString(part.value)) return part.value;
  if (part.content !== undefined) return depth > MAX_DEPTH ? "" : textOf(part.content, depth + 1);
  return "";
}

/** The text of a message's content: a string as it is, parts joined by line ends, images as `[image]`. */
export const contentText = (content: unknown): string => textOf(content, 0);

function textOf(content: unknown, depth: number): string {
  if (isString(content)) return content;
  if (Array.isArray(content)) return joinBlocks(content.map((part) => partText(part, depth)));
  return isObject(content) ? partText(content, depth) : "";
}

/** A tool's answer as text: like `contentText`, but any other JSON value is kept as JSON rather than lost. */
export function resultText(content: unknown): string {
  if (content === undefined || content === null) return "";
  const text = contentText(content);
  if (text !== "" || isString(content) || arrayOrEmpty(content).length + Object.keys(objectOrEmpty(content)).length === 0)
    return text;
  return toJson(content);
}

/** Whether a text begins, after blanks, in one of these forms. */
export function beginsAs(forms: readonly RegExp[], text: string): boolean {
  const own = text.trimStart();
  return forms.some((form) => form.test(own));
}

const isBlankAt = (text: string, index: number): boolean => text.charAt(index).trim() === "";

/** Blocks of one message in order, blank ones left out, each kept to the letter. */
export function joinBlocks(blocks: readonly string[]): string {
  const filled = blocks.filter((block) => block.trim() !== "");
  let text = "";
  for (const block of filled)
    text += text === "" || isBlankAt(text, text.length - 1) || isBlankAt(block, 0) ? block : `\n\n${block}`;
  return text;
}
