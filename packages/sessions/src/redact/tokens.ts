import type { Finder, Hit } from "./hit.js";
import { visitRuns } from "./runs.js";
import { TOKEN_SHAPES } from "./token-shapes.js";
import { isKeyValue } from "./values.js";

const escaped = (sign: string): string => sign.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
const SIGNS = new RegExp(TOKEN_SHAPES.flatMap((one) => one.signs.map(escaped)).join("|"));

/** What a token may have before the stretch that it was found by: the address of a webhook, a bot's number. */
const LOOK_BACK = 90;
const AUTHORIZATION = /(?:bearer|authorization[\\"']{0,4}:[ \t]{0,4}[\\"']{0,4}(?:basic|token))[ \t]{1,4}$/i;
/** Base64 tails of a credential after `Basic` or `Bearer`. */
const CREDENTIAL = /[A-Za-z0-9+/_=.~-]{20,2000}/y;

function shapedTokens(text: string, start: number, end: number): Hit[] {
  const from = Math.max(0, start - LOOK_BACK);
  // Two characters more, so that a pattern can see what stands before and after.
  const window = text.slice(from, end + 2);
  if (!SIGNS.test(window)) return [];
  return TOKEN_SHAPES.flatMap(({ kind, signs, pattern, accept }) => {
    if (!signs.some((sign) => window.includes(sign))) return [];
    return [...window.matchAll(pattern)]
      .filter((match) => accept?.(match[0]) ?? true)
      .map((match) => ({ start: from + match.index, end: from + match.index + match[0].length, kind }));
  });
}

function credential(text: string, start: number): Hit[] {
  if (text.charCodeAt(start - 1) !== 0x20 || !AUTHORIZATION.test(text.slice(Math.max(0, start - 40), start))) return [];
  CREDENTIAL.lastIndex = start;
  const value = CREDENTIAL.exec(text)?.[0] ?? "";
  return isKeyValue(value) ? [{ start, end: start + value.length, kind: "authorization" }] : [];
}

/** A random token without a digit is rare, and then its beginning shows it; a letter of JSON's `\\n` may stand before. */
const BEGINNING =
  /[nrtbf]?(?:AKIA|ASIA|ABIA|ACCA|AIza|GOCSPX-|SG\.|hf_|hv[sb]\.|gh[pousr]_|github_pat_|gl(?:pat|dt|rt|cbt)-|npm_|dckr_pat_|lin_api_|gsk_|pplx-|xai-|[srp]k_(?:live|test)_|whsec_|xox[abeoprs]-)/y;
function startsLikeToken(text: string, start: number): boolean {
  BEGINNING.lastIndex = start;
  return BEGINNING.test(text);
}

/** Tokens known by their shape, and credentials after `Bearer` and `Basic`. */
export const findTokens: Finder = (scan) => {
  const { text } = scan;
  const hits: Hit[] = [];
  visitRuns(scan, (start, end, hasDigit) => {
    if (!hasDigit && !startsLikeToken(text, start)) return;
    for (const hit of shapedTokens(text, start, end)) hits.push(hit);
    for (const hit of credential(text, start)) hits.push(hit);
  });
  return hits;
};

const PEM_LINES = "(?:(?:\\\\+[nrt]|[\\s\"'+|>,])*[A-Za-z0-9+/=]{16,})+";
/** Each on a line of its own: a header that might begin anywhere could be split in exponentially many ways. */
const PEM_HEADERS = "(?:(?:\\\\+[rt]|[ \\t\\r])*(?:\\\\+n|\\n)[ \\t]*[A-Za-z-]{1,40}: [^\\n\\\\]{1,200})*";
const PEM_NAME = "[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----";
/** A whole key, or one whose end was cut off. The header alone, as in code that looks for keys, is none. */
const PEM = new RegExp(
  `-----BEGIN${PEM_NAME}${PEM_HEADERS}${PEM_LINES}(?:[A-Za-z0-9+/=\\s\\\\"',|>]{0,120}-----END${PEM_NAME})?`,
  "g",
);
const STORAGE_KEY = /(?<=AccountKey=)[A-Za-z0-9+/]{86}==/g;

/** Keys that are longer than a stretch of token characters. */
export const findKeyBlocks: Finder = ({ text }) => {
  const all = (kind: string, pattern: RegExp): Hit[] =>
    [...text.matchAll(pattern)].map((match) => ({ start: match.index, end: match.index + match[0].length, kind }));
  const hasKey = text.includes("PRIVATE KEY");
  return [
    ...(hasKey ? all("private-key", PEM) : []),
    ...(text.includes("AccountKey=") ? all("azure-storage-key", STORAGE_KEY) : []),
  ];
};
