import type { FastifyInstance } from "fastify";
import { ProblemError, quote } from "../common/error.js";

const MAX_DEPTH = 32;
/** The key that sets an object's prototype when an object is merged; any other is the name of a property like all. */
const FORBIDDEN_KEY = "__proto__";

/** Index of the quote that closes the string that opens at `start`; the text's length when none does. */
const endOfString = (text: string, start: number): number => {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
};

const readKey = (literal: string): string => (literal.includes("\\") ? (JSON.parse(literal) as string) : literal.slice(1, -1));

const checkKey = (key: string, keys: Set<string> | null | undefined): void => {
  if (key === FORBIDDEN_KEY)
    throw new ProblemError("VALIDATION_FAILED", `The key ${quote(key)} is not allowed.`, {
      errors: [{ path: `/${key}`, message: "must not be there" }],
    });
  if (keys?.has(key)) throw new ProblemError("MALFORMED_JSON", `The key ${quote(key)} stands twice in one object.`);
  keys?.add(key);
};

/**
 * Walks the text once and refuses what JSON.parse lets pass without a word; whether it is JSON at all is not decided here.
 * @throws ProblemError
 */
const checkText = (text: string): void => {
  /** The keys of each open object, null for an open list. */
  const open: (Set<string> | null)[] = [];
  let literal = '""';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      literal = text.slice(at, end + 1);
      at = end;
    } else if (character === ":") checkKey(readKey(literal), open.at(-1));
    else if (character === "{" || character === "[") {
      open.push(character === "{" ? new Set() : null);
      if (open.length > MAX_DEPTH)
        throw new ProblemError("MALFORMED_JSON", `The body is nested deeper than ${MAX_DEPTH} levels.`);
    } else if (character === "}" || character === "]") open.pop();
  }
};

/**
 * JSON in UTF-8, without duplicate keys, the key that sets prototypes, or excessive depth.
 * @throws ProblemError MALFORMED_JSON or VALIDATION_FAILED
 */
export const parseStrictJson = (bytes: Uint8Array): unknown => {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    checkText(text);
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    throw new ProblemError("MALFORMED_JSON", "The body is not JSON in UTF-8 (NaN and Infinity are none either).");
  }
};

/** JSON is the only body there is, but for two routes with parsers of their own: any other content type is answered 415 before it is read. */
export const addJsonBody = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body: Buffer, done) => {
    try {
      done(null, body.length === 0 ? undefined : parseStrictJson(body));
    } catch (error) {
      done(error as Error);
    }
  });
};
