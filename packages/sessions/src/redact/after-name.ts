import { GUTTER, secretAt, secretOf } from "./expressions.js";
import { bare, endsLine, matched, quoted, type Value, valueAt } from "./given.js";
import type { NameKind } from "./names.js";
import { isCredential } from "./values.js";

/** A name that announces a secret, and where it stands. */
export interface Name {
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
export function* valuesOf(of: Name): Values {
  const sign = matched(ASSIGN, of.text, of.end);
  if (sign !== null) return yield* assigned(of, sign);
  for (const way of [inCode, inMarkup, alone, spaced]) yield* way(of);
}
