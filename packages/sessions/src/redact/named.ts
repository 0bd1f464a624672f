import { GUTTER, secretAt, secretOf } from "./expressions.js";
import { bare, endsLine, matched, quoted, type Value, valueAt } from "./given.js";
import type { Finder, Hit } from "./hit.js";
import { hitKind, isOfSecretKey, type NameKind, nameKind, visitNames } from "./names.js";
import { beginsToken } from "./tokens.js";
import { CUT, isCredential, isSecret } from "./values.js";
import { wrappedEnd } from "./wrapped.js";

/** A name that announces a secret, and where it stands. */
interface Name {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly name: string;
  readonly kind: NameKind;
}

type Values = Iterable<Value | null>;

const LINE_START = new RegExp(`(?:^|\\n|["'\`])${GUTTER}(?:(?:export|set|setx|ENV|ARG|declare -x|:)[ \\t]*)?["']?$`);

const QUOTES = "[\"'`]";
/** The type between a name and its value: `: Optional[str] =`, `: &str =`. */
const TYPE = `[ \\t]*&?[A-Za-z][\\w.| ]{0,40}(?:\\[[\\w., |]{1,40}\\])?[ \\t]*=(?=[ \\t]*${QUOTES})`;
/** `name = `, `name: `, `"name" => `, `name := `, `name: str = `, `**Name:** `. */
const ASSIGN = new RegExp(
  `(?:${QUOTES}|\\])*(?:\\*\\*|__)?(?: \\d{1,2}| \\[[^\\]\\n]{0,40}\\])?[ \\t]*(?::=|=>|=(?![=~>])|:(?![:=])(?:${TYPE})?)(?:\\*\\*|__)?` +
    `(?:[ \\t]*[|>][-+]?(?=\\s*\\n))?[ \\t]*(?:\\\\?\\n${GUTTER}(?=\\S+(?:\\n|$)))?`,
  "y",
);
/** What stands in when a lookup finds nothing: `env.NAME || "…"`, `get("NAME", "…")`, `${NAME:-…}`. */
const FALLBACK = new RegExp(
  `(?:${QUOTES}|[)\\]]){0,4}[ \\t]*(?:,|\\.(?:unwrap_or|unwrap_or_else|or_else|orElse|getOrElse)\\((?:\\|\\w*\\|)?|\\|\\||\\?\\?|\\?:|:-|:=|\\bor\\b)[ \\t]*`,
  "y",
);
const CELL = /[ \t*`]*[|│┃][ \t*]*/y;
/** `setPassword("…")`. */
const ARGUMENT = new RegExp(` ?\\([ \\t]*(?=${QUOTES})`, "y");
/** `variable "name" { … default = "…" }`. */
const VARIABLE = /["'] *\{[^{}]{0,200}?\bdefault[ \t]*=[ \t]*/y;
/** `value: …` before its `name: NAME`. */
const BEFORE = new RegExp(
  `${QUOTES}?value${QUOTES}?[ \\t]*[:=][ \\t]*["']?(?<secret>[^\\s"',]{6,4000})["']?,?\\s{1,60}(?:- )?["']?(?:name|key)["']?[ \\t]*[:=][ \\t]*["']?$`,
  "di",
);
/** `<name …>…`, and `<name><value>…`. */
const ELEMENT = /(?:\s[^<>\n]{0,200})?>\s*(?:<[A-Za-z]{1,40}>\s*)?/y;
/** `<string name="NAME">…`. */
const ATTRIBUTE = /["'][^<>\n]{0,100}>\s*/y;
/** `name: NAME` with its `value:` beside it. */
const PAIR = new RegExp(
  `${QUOTES}?[ \\t]*(?:(?:[,;]|[:=][ \\t]*\\{)?(?:\\n${GUTTER}|\\s{1,60})${QUOTES}?(?:value|val|content|default)${QUOTES}?[ \\t]*[:=]` +
    `|(?:,|[:=][ \\t]*\\{)[^{}]{0,160}?${QUOTES}value${QUOTES}[ \\t]*:)[ \\t]*`,
  "iy",
);
/** `<key>NAME</key><string>…`. */
const PLIST = new RegExp(`</key>\\s*(?:\\n${GUTTER})?<string>`, "y");
/** `password [x]`. */
const BRACKET = /[ \t]*\[(?=[^\s\]"']+\])/y;
const SPACE = /(?:\*\*|__)?[ \t]+(?:(?:is|was|to|ist|lautet|est|es|è|changed to|set to|now)[ \t]+|(?:is|was):[ \t]+)?/y;
/** `password for root@host: …` and `the following password to go on:`, with the value last in its line or alone in the next. */
const EXPLAINED = new RegExp(
  `[^\\n:="'\`|]{2,80}:(?:[ \\t]+|[ \\t]*\\n(?:${GUTTER}\\n)?${GUTTER})(?=\\S{6,200}(?:\\n|$|["']))`,
  "y",
);
/** `password from "…" to "…"`. */
const FROM_TO = /[ \t]+from[ \t]+["'`](?<secret>[^"'`\s]{6,200})["'`][ \t]+to[ \t]+(?=["'`])/dy;
/** `password of the build machine is …`. */
const PROSE = /(?: [\p{L}\w'-]{1,20}){1,6} (?:is|ist|lautet)[ \t]+/uy;
/** What a command prints that names a password: one word alone in the next line. */
const PRINTED = new RegExp(`[^\\n]{0,200}\\n${GUTTER}(?=\\S{8,200}(?:\\n|$|["']))`, "y");
const PROMPT = /(?:^|["'`\n]|\d(?:\t|→|: ?| ?\|))[ \t]*(?:[$>#❯%]|\w[\w@:~/.-]{0,60}[$#])[ \t][^\n]{0,300}$/;

const isSetName = (name: string): boolean => /^[A-Z][A-Z0-9_]+$/.test(name);
const before = (text: string, start: number, length: number): string => text.slice(Math.max(0, start - length), start);
const isAtLineStart = ({ text, start }: Name): boolean => LINE_START.test(before(text, start, 300));

/** The value behind what a pattern matches after the name. */
function behind({ text, end }: Name, pattern: RegExp, read: (at: number) => Value | null): Value | null {
  const gap = matched(pattern, text, end);
  return gap === null ? null : read(end + gap.length);
}

/** `NAME=…`, `name: …` and what code makes of it. */
function* assigned(of: Name, sign: string): Values {
  const { text, start, end, name, kind } = of;
  const isWhole = (isAtLineStart(of) || isSetName(name)) && text[start - 1] !== ";";
  const isTight = sign === "=" || sign === ":" || /[;?&{,]\s?$/.test(before(text, start, 2));
  const value = valueAt(text, end + sign.length, isWhole || isTight, isWhole);
  const isLast = kind === "password" && value !== null && endsLine(text, value.end);
  yield value === null || !isLast ? value : { ...value, isSetting: true };
  if (text[end + sign.length] === "{") yield behind(of, PAIR, (at) => valueAt(text, at, true));
}

function* inCode(of: Name): Values {
  const { text, start } = of;
  const fallback = matched(FALLBACK, text, of.end);
  if (fallback !== null) {
    const isShell = /:[-=]$/.test(fallback);
    const value = valueAt(text, of.end + fallback.length, isShell);
    if (value !== null && (value.isQuoted || isShell)) yield value;
  }
  yield behind(of, ARGUMENT, (at) => valueAt(text, at, false));
  for (const pattern of [PAIR, VARIABLE]) yield behind(of, pattern, (at) => valueAt(text, at, true));
  const from = Math.max(0, start - 4100);
  const [first, last] = secretOf(BEFORE.exec(text.slice(from, start))) ?? [0, 0];
  if (last > 0) yield { start: from + first, end: from + last, isQuoted: false, isSetting: true };
}

function* inMarkup(of: Name): Values {
  const { text, start } = of;
  yield behind(of, CELL, (at) => valueAt(text, at, true));
  if (/<(?:\w+:)?$/.test(before(text, start, 20))) yield behind(of, ELEMENT, (at) => bare(text, at, true, false));
  if (/<[a-z]\w{0,20} (?:name|key|id)=["']$/i.test(before(text, start, 32)))
    yield behind(of, ATTRIBUTE, (at) => bare(text, at, true, false));
  for (const pattern of [PLIST, BRACKET]) yield behind(of, pattern, (at) => bare(text, at, true, false));
}

/** What is drawn by chance and stands alone: after a sentence that ends in a colon, or as the output of a command. */
function* alone(of: Name): Values {
  const { text, start, end, kind } = of;
  const only = (pattern: RegExp, length: number): Value | null => {
    const value = behind(of, pattern, (at) => bare(text, at, true, true));
    return value !== null && isCredential(text.slice(value.start, value.end), length) ? value : null;
  };
  if (kind === "password") {
    const [from, to] = secretAt(FROM_TO, text, end) ?? [0, 0];
    if (to > 0) {
      yield { start: from, end: to, isQuoted: true, isSetting: true, isFirst: true };
      yield quoted(text, FROM_TO.lastIndex);
    }
    for (const pattern of [EXPLAINED, PROSE]) yield behind(of, pattern, (at) => valueAt(text, at, true, pattern === EXPLAINED));
  }
  if (PROMPT.test(before(text, start, 300))) yield only(PRINTED, 12);
}

/** `--password …`, `password …` of a configuration, `password is …`. */
function* spaced(of: Name): Values {
  const { text, start, end, name, kind } = of;
  const space = matched(SPACE, text, end);
  if (space === null) return;
  const isOption = text[start - 1] === "-" || isSetName(name);
  const value = valueAt(text, end + space.length, isOption, false);
  const said = value === null ? "" : text.slice(value.start, value.end);
  if (value === null || /^--?[a-z][a-z-]*$|^\(|^0x[0-9a-f]+$/i.test(said)) return;
  const isSetting =
    isOption ||
    /machine |login /.test(before(text, end, 200)) ||
    (isAtLineStart(of) && endsLine(text, value.end)) ||
    (kind === "password" && (space.trim() !== "" || (said.length >= 8 && /\d.*\d/.test(said))));
  const isQuoted = value.isQuoted && kind === "password";
  const isLong = said.length >= 16 && !/[(.]/.test(text[value.end] ?? "");
  if (isSetting || isQuoted || isLong) yield { ...value, isSetting, isQuoted };
}

/** The values that may belong to a name, by what stands between, the likeliest first. */
function* valuesOf(of: Name): Values {
  const sign = matched(ASSIGN, of.text, of.end);
  if (sign !== null) return yield* assigned(of, sign);
  for (const way of [inCode, inMarkup, alone, spaced]) yield* way(of);
}

const NAME_CHAR = /[A-Za-z0-9_-]/;
const LONGEST_NAME = 80;
/** The next of a list, after a value that was one. */
const NEXT_OF_LIST = new RegExp(
  `["']?[ \\t]*,?[ \\t]*(?:\\n${GUTTER})?["']?(?=[^\\s:"']{8,4000}["']?[ \\t]*(?:[,\\n\\]]|$))`,
  "y",
);

function nameAround(text: string, at: number): readonly [start: number, end: number] {
  let start = at;
  while (start > 0 && at - start < LONGEST_NAME && NAME_CHAR.test(text[start - 1] ?? "")) start--;
  let end = at;
  while (end < text.length && end - at < LONGEST_NAME && NAME_CHAR.test(text[end] ?? "")) end++;
  while (start < at && text[start] === "-") start++;
  return [start, end];
}

/** Words before `key` that name no service. */
const NO_SERVICE =
  /^(?:an?|the|this|that|each|every|any|some|no|by|with|of|for|per|from|as|is|same|new|old|first|last|next|if|its|other|unknown|missing|duplicate|invalid|given|wrong|press|enter|which|what|and|or|not|in|on|to|string|int|const|let|var|val|redis|dictionary|kms|s3|i18n)$/i;

/** Whether the word before says that `key` is a secret: `API key`, `api.key`, `acme key`, but not `cache key` and `the key`. */
function isOfSecret(text: string, start: number): boolean {
  const [, word = "", sign] = /([A-Za-z]\w{1,20})([ .])$/.exec(text.slice(Math.max(0, start - 23), start)) ?? [];
  if (isOfSecretKey(word)) return true;
  return sign === " " && !NO_SERVICE.test(word) && nameKind(`${word}_key`) === "key";
}

/** `key:` alone, in a section on encryption or beside a name of a user: `{"username": …, "key": …}`. */
const isNearSecret = (text: string, start: number): boolean =>
  /(?:encryption|crypt|username|secret|credentials?|auth|api)["']?\s*(?::|=>?)[^{}\n]{0,80}[\s,{["'\d|:→-]*$/i.test(
    text.slice(Math.max(0, start - 160), start),
  );

/** `here is the key: …`. */
const isSpokenOf = (text: string, start: number): boolean =>
  /\b(?:the|my|this|our|new|following) $/i.test(text.slice(Math.max(0, start - 14), start));

/** What Django writes before a key that it drew; not a part of it. */
const MARK = "django-insecure-";

const hitOf = (text: string, value: Value, kind: NameKind): Hit => ({
  start: value.start + (text.startsWith(MARK, value.start) ? MARK.length : 0),
  end: value.end - (CUT.exec(text.slice(value.start, value.end))?.[0].length ?? 0),
  kind: hitKind(kind),
});

/** What a name announces that stands from `start` to `end`. */
function kindOf(text: string, start: number, end: number): NameKind | null {
  // What stands before an address's `@` is found as its login.
  if (/:\/\/[^\s/?#"'`]{0,80}$/.test(text.slice(Math.max(0, start - 84), start))) return null;
  const name = text.slice(start, end);
  if (/^keys?$/i.test(name) && (isOfSecret(text, start) || isNearSecret(text, start) || isSpokenOf(text, start))) return "key";
  return name === "PWD" && text[start - 1] === ";" ? "password" : nameKind(name);
}

/** The hits of a name: its value, what it was before, the rest of a list. */
function hitsOf(of: Name): Hit[] {
  const { text, name, kind } = of;
  const hits: Hit[] = [];
  const isOne = (value: Value | null): value is Value =>
    value !== null && isSecret(text.slice(value.start, value.end).replace(MARK, ""), kind, value);
  const lineStart = (at: number): number => text.lastIndexOf("\n", at) + 1;
  for (const value of valuesOf(of)) {
    if (!isOne(value)) continue;
    const end = value.isQuoted ? value.end : wrappedEnd(text, lineStart(value.start), value.end, (at) => beginsToken(text, at));
    hits.push(hitOf(text, { ...value, end }, kind));
    if (value.isFirst === true) continue;
    let last = end;
    while (/s$/i.test(name)) {
      const gap = matched(NEXT_OF_LIST, text, last);
      const next = gap === null ? null : valueAt(text, last + gap.length, true, false);
      if (!isOne(next)) break;
      hits.push(hitOf(text, next, kind));
      last = next.end;
    }
    break;
  }
  return hits;
}

/** Values given to a name that says what they are, in settings, code, JSON, tables, options and sentences. */
export const findNamed: Finder = (scan) => {
  const { text } = scan;
  const found: Hit[] = [];
  visitNames(scan, (at) => {
    const [start, end] = nameAround(text, at);
    const kind = kindOf(text, start, end);
    if (kind === null) return end;
    const hits = hitsOf({ text, start, end, name: text.slice(start, end), kind });
    found.push(...hits);
    return Math.max(end, ...hits.map((hit) => hit.end));
  });
  return found;
};
