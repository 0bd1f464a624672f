import { setImmediate as turn } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { ProblemError, quote } from "../common/error.js";

const MAX_DEPTH = 32;
/** More than any conversation has; to check twice as many would hold up all other requests for a second. */
const MAX_VALUES = 150_000;
/** Bytes, or characters, that are read in one turn of the event loop: some milliseconds. */
const PIECE = 1024 * 1024;
/** The key that sets an object's prototype when an object is merged; any other is the name of a property like all. */
const FORBIDDEN_KEY = "__proto__";

/** Index of the quote that closes the string that opens at `start`; the text's length when none does. */
const endOfString = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text[first - 1] === "\\") first -= 1;
    if ((end - first) % 2 === 0) return end; // the backslashes before it escape each other
  }
  return text.length;
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
 * Walks the text once and refuses what JSON.parse lets pass without a word; whether it is JSON at all is not decided here. Yields
 * where a piece ends.
 * @throws ProblemError
 */
function* checkText(text: string): Generator<void> {
  /** The keys of each open object, null for an open list. */
  const open: (Set<string> | null)[] = [];
  let literal = '""';
  let values = 0;
  let pause = PIECE;
  for (let at = 0; at < text.length; at += 1) {
    if (at >= pause) {
      pause = at + PIECE;
      yield;
    }
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      literal = text.slice(at, end + 1);
      at = end;
    } else if (character === ":") checkKey(readKey(literal), open.at(-1));
    else if (character === "{" || character === "[") {
      open.push(character === "{" ? new Set() : null);
      values += 1;
      if (open.length > MAX_DEPTH)
        throw new ProblemError("MALFORMED_JSON", `The body is nested deeper than ${MAX_DEPTH} levels.`);
    } else if (character === "}" || character === "]") open.pop();
    else if (character === ",") values += 1;
    if (values > MAX_VALUES) throw new ProblemError("BODY_TOO_LARGE", `The body holds more than ${MAX_VALUES} values.`);
  }
}

const decode = async (bytes: Uint8Array): Promise<string> => {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  for (let at = 0; at < bytes.length; at += PIECE) {
    if (at > 0) await turn();
    text += decoder.decode(bytes.subarray(at, at + PIECE), { stream: true });
  }
  return text + decoder.decode();
};

/**
 * JSON in UTF-8, without duplicate keys, the key that sets prototypes, or excessive depth. A large body is read in many turns of the
 * event loop but for JSON.parse itself, which takes 0.2 s of 64 MiB: a thread of its own would save half of that.
 * @throws ProblemError MALFORMED_JSON, VALIDATION_FAILED or BODY_TOO_LARGE
 */
export const parseStrictJson = async (bytes: Uint8Array): Promise<unknown> => {
  try {
    const text = await decode(bytes);
    for (const _pause of checkText(text)) await turn();
    const isLarge = bytes.length > PIECE;
    if (isLarge) await turn();
    const value: unknown = JSON.parse(text);
    if (isLarge) await turn(); // before it is checked by a schema
    return value;
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    throw new ProblemError("MALFORMED_JSON", "The body is not JSON in UTF-8 (NaN and Infinity are none either).");
  }
};

/** JSON is the only body there is, but for two routes with parsers of their own: any other content type is answered 415 before it is read. */
export const addJsonBody = (app: FastifyInstance): void => {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, async (_request: unknown, body: Buffer) =>
    body.length === 0 ? undefined : parseStrictJson(body),
  );
};
