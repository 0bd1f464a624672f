import { ProblemError, quote } from "../problem.js";

const MAX_DEPTH = 32;
/** Keys that reach an object's prototype when an object is merged. */
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/gs;

/**
 * Walks a text that is known to be JSON and refuses what JSON.parse lets pass without a word.
 * @throws ProblemError
 */
const checkKeys = (text: string): void => {
  const open: (Set<string> | null)[] = [];
  let string: string | null = null;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{" || token === "[") {
      open.push(token === "{" ? new Set() : null);
      if (open.length > MAX_DEPTH)
        throw new ProblemError("MALFORMED_JSON", `The body is nested deeper than ${MAX_DEPTH} levels.`);
    } else if (token === "}" || token === "]") open.pop();
    else if (token === ":") {
      const key = JSON.parse(string ?? '""') as string;
      const keys = open.at(-1);
      if (FORBIDDEN_KEYS.has(key))
        throw new ProblemError("VALIDATION_FAILED", `The key ${quote(key)} is not allowed.`, {
          errors: [{ path: `/${key}`, message: "must not be there" }],
        });
      if (keys?.has(key)) throw new ProblemError("MALFORMED_JSON", `The key ${quote(key)} stands twice in one object.`);
      keys?.add(key);
    }
    string = token.startsWith('"') ? token : null;
  }
};

/**
 * JSON in UTF-8, without duplicate keys, keys that reach prototypes, or excessive depth.
 * @throws ProblemError MALFORMED_JSON or VALIDATION_FAILED
 */
export const parseStrictJson = (bytes: Uint8Array): unknown => {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch {
    throw new ProblemError("MALFORMED_JSON", "The body is not JSON in UTF-8 (NaN and Infinity are none either).");
  }
  checkKeys(text);
  return value;
};
