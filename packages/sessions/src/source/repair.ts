import { isObject, type JsonObject, parseJson } from "../values/json.js";

/** Longer broken texts are not repaired: the search for whole objects is quadratic in the worst case. */
const SEARCH_LIMIT = 4 * 1024 * 1024;
const MAX_TRIES = 256;
/** A string that does not end is one to the end, or each of its quotes would be tried as the start of one. */
const NOT_JSON = /"[^"\\]*(?:\\[\s\S]?[^"\\]*)*(?:"|$)|-?\bInfinity\b|\bNaN\b/g;

/** Python's `json` writes NaN and Infinity, which JSON does not know: read as null. */
export function parseLenient(text: string): unknown {
  const value = parseJson(text);
  if (value !== undefined || text.length > SEARCH_LIMIT || !/NaN|Infinity/.test(text)) return value;
  return parseJson(text.replace(NOT_JSON, (token) => (token.startsWith('"') ? token : "null")));
}

/** The end of the JSON object that starts at `from`, or -1 when it does not end. */
function objectEnd(text: string, from: number): number {
  let depth = 0;
  let inString = false;
  for (let index = from; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === 0x5c) index++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b) depth++;
    else if (code === 0x7d && --depth === 0) return index + 1;
  }
  return -1;
}

/** The whole objects of a line that is not one object: two writers' lines in one, or a torn line before a whole one. */
export function objectsInBrokenLine(line: string): JsonObject[] {
  if (line.length > SEARCH_LIMIT) return [];
  const found: JsonObject[] = [];
  let from = line.indexOf("{");
  for (let tries = 0; from >= 0 && tries < MAX_TRIES; tries++) {
    const end = objectEnd(line, from);
    // After one of these an object is a part of the torn one around it, unless it is the rest of the line.
    const isPart = ":,[ ".includes(line[from - 1] ?? "}") && line.slice(end).trim() !== "";
    const value = end < 0 || isPart ? undefined : parseLenient(line.slice(from, end));
    if (isObject(value)) found.push(value);
    from = line.indexOf('{"', isObject(value) ? end : from + 1);
  }
  return found;
}
