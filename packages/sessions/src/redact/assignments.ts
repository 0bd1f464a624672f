import { type Finder, type Hit, hitsAt } from "./hit.js";
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
const ending = (first: number, second: number): number => ((first | 0x20) << 8) | ((second | 0x20) & 0xff);
for (const pair of ["ey", "en", "et", "rd", "wd", "se", "ss", "id"]) ENDINGS[ending(pair.charCodeAt(0), pair.charCodeAt(1))] = 1;

/** The name before an `=` or `:`, without quotes and brackets; empty when there is none of interest. */
function nameBefore(text: string, sign: number): string {
  let end = sign;
  while (end > 0 && sign - end < 8) {
    const code = text.charCodeAt(end - 1);
    if (code !== 0x20 && code !== 0x3a && code !== 0x5d && code !== BACKSLASH && !isQuote(code)) break;
    end--;
  }
  if (end < SHORTEST_NAME || ENDINGS[ending(text.charCodeAt(end - 2), text.charCodeAt(end - 1)) & 0xffff] === 0) return "";
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

function assignmentAt(text: string, sign: number): Hit | null {
  const name = nameBefore(text, sign);
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
export const findAssignments: Finder = (text) => ["=", ":"].flatMap((sign) => hitsAt(text, sign, (at) => assignmentAt(text, at)));

const OPTION = /--(?:password|token|api-key)[ ][\\"']{0,4}(?<secret>[^\s"'\\$<>{}]{8,200})/dy;
const LOGIN = /curl [^\n|;]{0,300}?\s(?:-u|--user)[ =][\\"']{0,4}[^\s:"'\\]{1,80}:(?<secret>[^\s"'\\$]{4,100})/dy;

function optionAt(pattern: RegExp, text: string, at: number): Hit | null {
  pattern.lastIndex = at;
  const [start, end] = pattern.exec(text)?.indices?.groups?.secret ?? [0, 0];
  return isPassword(text.slice(start, end)) ? { start, end, kind: "password" } : null;
}

/** Secrets on a command line: after an option that takes one, and curl's logins. */
export const findOptions: Finder = (text) => [
  ...hitsAt(text, "--", (at) => optionAt(OPTION, text, at)),
  ...hitsAt(text, "curl ", (at) => optionAt(LOGIN, text, at)),
];
