import { type Finder, type Hit, hitsAt } from "./hit.js";
import type { Scan } from "./scan.js";
import { isKeyValue, isPassword } from "./values.js";

const SECRET_ENDING = /(?:key|token|secret)(?:[_-]?(?:id|base))?$/i;
const SECRET_NAME =
  /(?:(?:api|access|auth|secret|private|signing|encryption|master|client|account|service|app|session|webhook)[_-]?(?:key|token|secret)(?:[_-]?(?:id|key|base))?|[a-z][_-](?:token|secret|apikey|key)|apikey|token|secret)$/i;
const PASSWORD_NAME = /(?:password|passwd|passphrase|pwd|_pass)$/i;
/** A name of settings files and shells, whose values need no quotes. */
const SETTING = /^(?:--[a-z-]+|[A-Z][A-Z0-9_]*)$/;

const QUOTED_KEY = /[A-Za-z0-9+/_=.-]{16,200}(?=\\{0,3}["'`])/y;
const BARE_KEY = /[A-Za-z0-9+/_=.-]{16,200}(?=$|[\s\\"'`;&|,])/y;
const QUOTED_PASSWORD = /[^\s"'`\\<>{}()]{8,100}(?=\\{0,3}["'`])/y;
const BARE_PASSWORD = /[^\s"'`\\<>{}()$;&|]{8,100}(?=$|[\s\\"'`;&|])/y;
/** Without quotes after a colon, as in YAML and headers, only long values count. */
const LONG = 20;

const isNameChar = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) ||
  (code >= 0x41 && code <= 0x5a) ||
  (code >= 0x30 && code <= 0x39) ||
  code === 0x5f ||
  code === 0x2d;
const isQuote = (code: number): boolean => code === 0x22 || code === 0x27 || code === 0x60;
const BACKSLASH = 0x5c;
const MAX_NAME = 60;
const SHORTEST_NAME = 3;

/** The last two letters of the names looked for: nearly all assignments are passed over by them. */
const ENDINGS = new Uint8Array(65_536);
const ending = (first: number, second: number): number => ((first | 0x20) << 8) | (second | 0x20);
for (const pair of ["ey", "en", "et", "rd", "wd", "se", "ss", "id"]) ENDINGS[ending(pair.charCodeAt(0), pair.charCodeAt(1))] = 1;

/** What may stand between a name and its sign: spaces, quotes, brackets. */
const AFTER_NAME = new Uint8Array(256);
for (const char of " :]\\\"'`") AFTER_NAME[char.charCodeAt(0)] = 1;
const MOST_AFTER_NAME = 8;

/** Where the name before an `=` or `:` ends; 0 when it is none of interest. */
function nameEnd(bytes: Uint8Array, sign: number): number {
  let end = sign;
  while (end > 0 && sign - end < MOST_AFTER_NAME && AFTER_NAME[bytes[end - 1] ?? 0] === 1) end--;
  return end >= SHORTEST_NAME && ENDINGS[ending(bytes[end - 2] ?? 0, bytes[end - 1] ?? 0)] === 1 ? end : 0;
}

/** The name that ends at `end`; empty when it is too short. */
function nameAt(text: string, end: number): string {
  let start = end;
  while (start > 0 && end - start < MAX_NAME && isNameChar(text.charCodeAt(start - 1))) start--;
  if (end - start < SHORTEST_NAME) return "";
  // The first letter may belong to an escaped line end of JSON text.
  if (text.charCodeAt(start - 1) === BACKSLASH && /^[nrt][A-Z_]/.test(text.slice(start, start + 2))) start++;
  return text.slice(start, end);
}

/** Where a value begins after an `=` or `:`, and whether in quotes. */
function valueAfter(text: string, sign: number): { readonly start: number; readonly isQuoted: boolean } {
  let start = sign + 1;
  while (text.charCodeAt(start) === 0x20 || text.charCodeAt(start) === 0x3e) start++;
  let quote = start;
  while (text.charCodeAt(quote) === BACKSLASH) quote++;
  return isQuote(text.charCodeAt(quote)) ? { start: quote + 1, isQuoted: true } : { start, isQuoted: false };
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

function assignmentAt({ text, bytes }: Scan, sign: number): Hit | null {
  const end = nameEnd(bytes, sign);
  const name = end === 0 ? "" : nameAt(text, end);
  if (name === "") return null;
  const kind = PASSWORD_NAME.test(name) ? "password" : SECRET_ENDING.test(name) && SECRET_NAME.test(name) ? "secret" : null;
  if (kind === null) return null;
  const { start, isQuoted } = valueAfter(text, sign);
  const isColon = text.charCodeAt(sign) === 0x3a;
  const isBare = !isQuoted && ((!isColon && SETTING.test(name)) || (isColon && kind === "secret"));
  if (!isQuoted && !isBare) return null;
  const patterns = kind === "password" ? [QUOTED_PASSWORD, BARE_PASSWORD] : [QUOTED_KEY, BARE_KEY];
  const value = match((isQuoted ? patterns[0] : patterns[1]) ?? QUOTED_KEY, text, start);
  const isSecret = kind === "password" ? isPassword(value) : isKeyValue(value);
  return isSecret && (isQuoted || !isColon || value.length >= LONG) ? { start, end: start + value.length, kind } : null;
}

/** Values given to a name that says what they are: in quotes anywhere, without quotes in settings and headers. */
export const findAssignments: Finder = (scan) => [
  ...hitsAt(scan.text, "=", (at) => assignmentAt(scan, at)),
  ...hitsAt(scan.text, ":", (at) => assignmentAt(scan, at)),
];

const OPTION = /--(?:password|token|api-key)[ ][\\"']{0,4}(?<secret>[^\s"'\\$<>{}]{8,200})/dy;
const LOGIN = /curl [^\n|;]{0,300}?\s(?:-u|--user)[ =][\\"']{0,4}[^\s:"'\\]{1,80}:(?<secret>[^\s"'\\$]{4,100})/dy;

const LONGEST_COMMAND = 310;

function optionAt(pattern: RegExp, text: string, at: number): Hit | null {
  pattern.lastIndex = at;
  const [start, end] = pattern.exec(text)?.indices?.groups?.secret ?? [0, 0];
  return isPassword(text.slice(start, end)) ? { start, end, kind: "password" } : null;
}

/** A login of the command that stands before an option `-u` or `--user`. */
function loginAt(text: string, at: number): Hit | null {
  const from = Math.max(0, at - LONGEST_COMMAND);
  const command = text.slice(from, at).lastIndexOf("curl ");
  return command < 0 ? null : optionAt(LOGIN, text, from + command);
}

/** Secrets on a command line: after an option that takes one, and curl's logins. */
export const findOptions: Finder = ({ text }) => [
  ...hitsAt(text, "--password", (at) => optionAt(OPTION, text, at)),
  ...hitsAt(text, "--token", (at) => optionAt(OPTION, text, at)),
  ...hitsAt(text, "--api-key", (at) => optionAt(OPTION, text, at)),
  ...hitsAt(text, "-u", (at) => loginAt(text, at)),
];
