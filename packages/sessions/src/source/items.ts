import { isObject, type JsonObject, parseJson } from "../values/json.js";
import type { Limits } from "./limits.js";
import { objectsInBrokenLine, parseLenient } from "./repair.js";

/** What a stretch of a file holds: JSON objects (and how many lines were none), or lines of text. */
export type Items =
  | { readonly kind: "records"; readonly records: readonly JsonObject[]; readonly bad: number }
  | { readonly kind: "text"; readonly lines: readonly string[] };

/** How a file is laid out: JSON lines, one JSON document, or text; undefined while too few lines were seen to tell. */
type Layout = "lines" | "document" | "text" | undefined;

const OPENING_BRACE = 0x7b;
const CONTAINER = /^\s*[[{]/;

/** A document's records: the elements of a list of objects, unless the list itself is one conversation's messages. */
function documentRecords(value: unknown): readonly JsonObject[] | null {
  if (isObject(value)) return [value];
  if (!Array.isArray(value)) return null;
  const objects = value.flat(1).filter(isObject);
  if (objects.length === 0) return null;
  const isMessage = (item: JsonObject): boolean => typeof item.role === "string" && item.messages === undefined;
  return objects.every((item) => isMessage(item) && item.kind === undefined) ? [{ messages: objects }] : objects;
}

/** A line that holds one conversation as a list: of messages, or of OpenHands' events. */
function listRecord(line: string): JsonObject | null {
  const value = line.startsWith("[") ? parseJson(line) : undefined;
  if (!Array.isArray(value) || value.length === 0 || !value.every(isObject)) return null;
  const hold = (...keys: readonly string[]): boolean => value.every((item) => keys.some((key) => typeof item[key] === "string"));
  if (hold("role")) return { messages: value };
  return hold("action", "observation") ? { trajectory: value } : null;
}

function lineRecords(lines: readonly string[]): Items {
  const records: JsonObject[] = [];
  let bad = 0;
  for (const line of lines) {
    // Parsing what cannot be an object would cost an exception for each line of a file that is no session.
    const start = line.charCodeAt(0) === OPENING_BRACE ? line : line.trimStart();
    if (start === "") continue;
    const value = start.charCodeAt(0) === OPENING_BRACE ? parseLenient(start) : undefined;
    const list = isObject(value) ? null : listRecord(start);
    if (isObject(value)) records.push(value);
    else if (list !== null) records.push(list);
    else {
      bad++;
      records.push(...objectsInBrokenLine(start));
    }
  }
  return { kind: "records", records, bad };
}

function documentItems(lines: readonly string[]): Items {
  const records = documentRecords(parseLenient(lines.join("\n")));
  return records === null ? lineRecords(lines) : { kind: "records", records, bad: 0 };
}

const isRecordLine = (line: string): boolean => {
  const value = line.startsWith("{") ? parseLenient(line) : undefined;
  return isObject(value) && Object.keys(value).length > 0;
};

/** A layout that no later line can change, or undefined. A pretty-printed document has no whole object at the start of a line. */
function layoutOf(line: string, first: string, isText: (line: string) => boolean): Layout {
  if (!CONTAINER.test(first) && isText(line)) return "text";
  if (!first.trimStart().startsWith("[") && isRecordLine(line)) return "lines";
  return undefined;
}

/**
 * The records or lines of a file, in batches. A file that is neither JSON lines nor text is read as one document, and when
 * that fails line by line.
 */
export async function* itemBatches(
  batches: AsyncIterable<string[]>,
  isText: (line: string) => boolean,
  limits: Limits,
): AsyncGenerator<Items> {
  let layout: Layout;
  let held: string[] = [];
  let heldLength = 0;
  let first: string | undefined;
  for await (const batch of batches) {
    if (layout !== undefined) {
      yield layout === "text" ? { kind: "text", lines: batch } : lineRecords(batch);
      continue;
    }
    for (const line of batch) {
      heldLength += line.length + 1;
      if (line.trim() === "") continue;
      first ??= line;
      layout ??= layoutOf(line, first, isText);
      if (layout !== undefined) break;
    }
    for (const line of batch) held.push(line);
    const isDocument = first !== undefined && CONTAINER.test(first);
    if (layout === undefined && (heldLength > limits.line || (!isDocument && held.length > limits.head))) layout = "lines";
    if (layout === undefined) continue;
    yield layout === "text" ? { kind: "text", lines: held } : lineRecords(held);
    held = [];
  }
  if (layout === undefined) yield documentItems(held);
}
