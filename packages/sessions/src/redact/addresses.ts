import { secretOf } from "./expressions.js";
import { type Finder, type Hit, hitsAt } from "./hit.js";
import { isCredential } from "./values.js";

const TOP_LEVEL = "(?:com|org|net|edu|gov|mil|int|info|biz|dev|app|cloud|tech|online|email|name|pro|xyz|site|[a-z]{2})";
const DOMAIN = new RegExp(
  `(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.){1,5}${TOP_LEVEL}(?![A-Za-z0-9_(-]|\\.[A-Za-z0-9])`,
  "y",
);
const LOCAL_PART = /(?:^|[^A-Za-z0-9._%+\\/-]|\\[nrtbf])([A-Za-z0-9][A-Za-z0-9._%+-]{0,63})$/;
/** Endings that make `icon@2x.png` and `module@v1.ts` of an address. */
const FILE_ENDING = /\.(?:js|ts|py|md|rs|go|sh|rb|cs|so|cc|mk|ps)$/i;
/** Addresses reserved for documentation, those that no person reads, and those of agents themselves. */
const IMPERSONAL =
  /^(?:git|noreply|no-reply|donotreply|svn|hg|root|openhands|claude|codex|cursoragent|aider|copilot|bot|swe-agent|builder|build|runner|ubuntu|postgres|example|user|test|foo|bar|you|your\.?name|jane\.?doe|john\.?doe|user\d*|test\d*)@|[@.](?:example|test|invalid|localhost)(?:\.[a-z]+)?$|@(?:all-hands\.dev|anthropic\.com|test\.com|email\.com|foo\.com|bar\.com|domain\.com|company\.com|mail\.com|acme\.(?:com|dev|org))$|users\.noreply\.github\.com$|\[bot\]/i;

/** `scheme://user:password@` and `scheme://token@`, up to an `@`. A password may hold the signs that divide an address, unescaped. */
const URL_LOGIN = /[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/@"'`<>\\]{0,200}:(?<secret>(?!\$[A-Za-z{(]|\*+$)[^\s/"'`<>{}\\]{3,400})$/di;
/** Only an address that names no file has a password with a slash. */
const DATABASE_LOGIN =
  /(?:postgres(?:ql)?|mysql|mariadb|mongodb|redis|rediss|amqps?|mssql)(?:\+[a-z0-9]+)?:\/\/[^\s:/@"'`<>\\]{0,200}:(?<secret>(?!\$[A-Za-z{(]|\d{1,5}\/)[^\s@"'`<>{}\\]{3,400})$/di;
const URL_TOKEN = /[a-z][a-z0-9+.-]{1,20}:\/\/(?<secret>[^\s:/@"'`<>{}\\$*]{16,400})$/di;
const NO_PASSWORD =
  /^(?:password|passwd|pass|pwd|secret|token|user|postgres|root|admin|test|example|x+|\.+|%s|port|host|mysql|guest|redis|changeme|your[-_]?\w*|my[-_]?\w*)$/i;
const VARIABLE = /^[A-Z_]+$/;
const LONGEST_LOGIN = 660;

function emailAt(text: string, at: number): Hit | null {
  const local = LOCAL_PART.exec(text.slice(Math.max(0, at - 67), at))?.[1];
  DOMAIN.lastIndex = at + 1;
  const domain = local === undefined ? null : DOMAIN.exec(text);
  if (local === undefined || domain === null) return null;
  const start = at - local.length;
  const end = at + 1 + domain[0].length;
  const address = text.slice(start, end);
  return IMPERSONAL.test(address) || FILE_ENDING.test(address) ? null : { start, end, kind: "email" };
}

function urlPasswordAt(text: string, at: number): Hit | null {
  const from = Math.max(0, at - LONGEST_LOGIN);
  const before = text.slice(from, at);
  if (!before.includes("://")) return null;
  const [start, end] = secretOf(URL_LOGIN.exec(before)) ?? secretOf(DATABASE_LOGIN.exec(before)) ?? [0, 0];
  const said = before.slice(start, end);
  if (start > 0)
    return NO_PASSWORD.test(said) || VARIABLE.test(said) ? null : { start: from + start, end: from + end, kind: "password" };
  const token = secretOf(URL_TOKEN.exec(before));
  return token === undefined || !isCredential(before.slice(...token))
    ? null
    : { start: from + token[0], end: from + token[1], kind: "secret" };
}

/** E-mail addresses of persons, and passwords in addresses `scheme://user:password@host`. */
export const findAddresses: Finder = ({ text }) => hitsAt(text, "@", (at) => urlPasswordAt(text, at) ?? emailAt(text, at));
