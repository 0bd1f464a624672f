import { joinBlocks } from "../../values/content-text.js";
import { isObject, isString, type JsonObject, objectOrEmpty, objectsOf, scalarText, toJson } from "../../values/json.js";

/** Nesting of a rendered prompt that is followed. */
const DEPTH = 64;

/** VS Code's text with marks: plain, or in an object's `value`. */
export const markdown = (value: unknown): string => (isString(value) ? value : scalarText(objectOrEmpty(value).value));

/** The text in the tree that a tool rendered its result into. */
function treeText(node: unknown, depth = 0): string {
  if (!isObject(node) || depth > DEPTH) return "";
  if (isString(node.text)) return node.lineBreakBefore === true ? `\n${node.text}` : node.text;
  const inner = objectsOf(node.children)
    .map((child) => treeText(child, depth + 1))
    .join("");
  return node.lineBreakBefore === true && !inner.startsWith("\n") ? `\n${inner}` : inner;
}

function partText({ value, data, mimeType }: JsonObject): string {
  if (isString(value)) return value;
  if (isObject(value) && isObject(value.node)) return treeText(value.node).replace(/^\n/, "");
  if (mimeType !== undefined || data !== undefined) return scalarText(mimeType).startsWith("image/") ? "[image]" : "[file]";
  return value === undefined ? "" : toJson(value);
}

/** What a tool answered the model; null where the file does not hold it. */
export function resultText(result: unknown): string | null {
  if (!isObject(result) || !Array.isArray(result.content)) return null;
  return joinBlocks(objectsOf(result.content).map(partText));
}
