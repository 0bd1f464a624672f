import { GUTTER } from "./gutter.js";
import type { Finder, Hit } from "./hit.js";
import { isOfSecretKey, type NameKind, nameKind, visitNames } from "./names.js";
import { beginsToken } from "./tokens.js";
import { CUT, isCredential, isSecret, type Place } from "./values.js";
import { wrappedEnd } from "./wrapped.js";

const NAME_CHAR = /[A-Za-z0-9_-]/;
const LONGEST_NAME = 80;

const LINE_START = new RegExp(`(?:^|\\n|["'\`])${GUTTER}(?:(?:export|set|setx|ENV|ARG|declare -x|:)[ \\t]*)?["']?$`);

const QUOTES = "[\"'`]";
/** `name = `, `name: `, `"name" => `, `name := `, `name: str = `, `**Name:** `. */
const ASSIGN = new RegExp(
  `(?:${QUOTES}|\\])*(?:\\*\\*|__)?(?: \\d{1,2})?[ \\t]*(?::=|=>|=(?![=~>])|:(?![:=]))(?:\\*\\*|__)?` +
    `(?:[ \\t]*(?:&?[A-Za-z][\\w.| ]{0,40}(?:\\[[\\w., |]{1,40}\\])?)[ \\t]*=(?=[ \\t]*${QUOTES}))?(?:[ \\t]*[|>][-+]?(?=\\s*\\n))?[ \\t]*(?:\\\\?\\n${GUTTER}(?=\\S+(?:\\n|$)))?`,
  "y",
);
/** What stands in when a lookup finds nothing: `env.NAME || "…"`, `get("NAME", "…")`, `${NAME:-…}`. */
const FALLBACK = new RegExp(`(?:${QUOTES}|[)\\]]){0,4}[ \\t]*(?:,|\\|\\||\\?\\?|\\?:|:-|:=|\\bor\\b)[ \\t]*`, "y");
const CELL = /[ \t*`]*[|│┃][ \t*]*/y;
/** `setPassword("…")`. */
const ARGUMENT = new RegExp(`\\([ \\t]*(?=${QUOTES})`, "y");
/** `variable "name" { … default = "…" }`. */
const VARIABLE = /["'] *\{[^{}]{0,200}?\bdefault[ \t]*=[ \t]*/y;
/** `value: …` before its `name: NAME`. */
const BEFORE = new RegExp(
  `${QUOTES}?value${QUOTES}?[ \\t]*[:=][ \\t]*["']?(?<secret>[^\\s"',]{6,4000})["']?,?\\s{1,60}(?:- )?["']?(?:name|key)["']?[ \\t]*[:=][ \\t]*["']?$`,
  "di",
);
const ELEMENT = /(?:\s[^<>\n]{0,200})?>\s*/y;
/** `name: NAME` with its `value:` beside it. */
const PAIR = new RegExp(
  `${QUOTES}?[ \\t]*(?:[,;]|[:=][ \\t]*\\{)?(?:\\n${GUTTER}|\\s{1,60})${QUOTES}?(?:value|val|content|default)${QUOTES}?[ \\t]*[:=][ \\t]*`,
  "iy",
);
/** `<key>NAME</key><string>…`. */
const PLIST = new RegExp(`</key>\\s*(?:\\n${GUTTER})?<string>`, "y");
/** `password [x]`. */
const BRACKET = /[ \t]*\[(?=[^\s\]"']+\])/y;
/** The next of a list, after a value that was one. */
const NEXT_OF_LIST = new RegExp(
  `["']?[ \\t]*,?[ \\t]*(?:\\n${GUTTER})?["']?(?=[^\\s:"']{8,4000}["']?[ \\t]*(?:[,\\n\\]]|$))`,
  "y",
);
const SPACE = /[ \t]+(?:(?:is|was|to|ist|lautet|est|es|è|changed to|set to|now)[ \t]+|(?:is|was):[ \t]+)?/y;
/** `password for root@host: …` and `the following password to go on:`, with the value last in its line or alone in the next. */
const EXPLAINED = new RegExp(
  `[^\\n:="'\`|]{2,80}:(?:[ \\t]+|[ \\t]*\\n(?:${GUTTER}\\n)?${GUTTER})(?=\\S{6,200}(?:\\n|$|["']))`,
  "y",
);
/** `password from "…" to "…"`. */
const FROM_TO = /[ \t]+from[ \t]+["'`](?<first>[^"'`\s]{6,200})["'`][ \t]+to[ \t]+(?=["'`])/dy;
/** What a command prints that names a password: one word alone in the next line. */
const PRINTED = new RegExp(`[^\\n]{0,200}\\n${GUTTER}(?=\\S{8,200}(?:\\n|$|["']))`, "y");
const PROMPT = /(?:^|["'`\n]|\d(?:\t|→|: ?| ?\|))[ \t]*(?:[$>#❯%]|\w[\w@:~/.-]{0,60}[$#])[ \t][^\n]{0,300}$/;

const CALL = /(?:[A-Za-z_][\w.]{0,40}\([ \t]*)?[rbufRBU$@]{0,2}["']?(?=["'`])/y;
const BARE = /[^\s"'`]{4,8000}/y;
const END_OF_BARE = /[,;&|<>)}\]]|\\(?=\s|$)/;
const COMMENT = /[ \t]*(?:[;,][ \t]*)?(?:(?:#|\/\/)[^\n]*)?(?=[\n"'`]|$)/y;

interface Value extends Place {
  readonly start: number;
  readonly end: number;
  /** Whether another one follows: what was and what is. */
  readonly isFirst?: boolean;
}

const matched = (pattern: RegExp, text: string, at: number): string | null => {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
};

function quoted(text: string, at: number): Value | null {
  const quote = text[at] ?? "";
  const stop = text.indexOf(quote, at + 1);
  const line = text.indexOf("\n", at + 1);
  if (stop < 0 || (line >= 0 && line < stop)) return null;
  return { start: at + 1, end: stop, isQuoted: true, isSetting: false };
}

/** A value without quotes: to the end of the word where nothing else stands in its line, or to what ends it in code. */
function bare(text: string, at: number, isSetting: boolean, isWhole: boolean): Value | null {
  const word = matched(BARE, text, at);
  if (word === null) return null;
  const whole = word.replace(/[,;]$/, "");
  if (isWhole && matched(COMMENT, text, at + word.length) !== null)
    return { start: at, end: at + whole.length, isQuoted: false, isSetting };
  const stop = END_OF_BARE.exec(word)?.index ?? word.length;
  return { start: at, end: at + word.slice(0, stop).replace(/[.:?]+$/, "").length, isQuoted: false, isSetting };
}

const valueAt = (text: string, at: number, isSetting: boolean, isWhole = isSetting): Value | null => {
  const call = matched(CALL, text, at);
  return call !== null ? quoted(text, at + call.length) : bare(text, at, isSetting, isWhole);
};

const isSetName = (name: string): boolean => /^[A-Z][A-Z0-9_]+$/.test(name);

/** Whether nothing but a comment follows in the line. */
const endsLine = (text: string, at: number): boolean => matched(COMMENT, text, at) !== null;

/** The values that may belong to a name that ends at `end`, by what stands between. */
function* valuesOf(text: string, start: number, end: number, name: string, kind: NameKind): Generator<Value | null> {
  const assigned = matched(ASSIGN, text, end);
  if (assigned !== null) {
    const isTight = assigned === "=" || assigned === ":";
    const atLineStart = LINE_START.test(text.slice(Math.max(0, start - 300), start));
    const isWhole = (atLineStart || isSetName(name)) && text[start - 1] !== ";";
    const isAfterSign = /[;?&{,]\s?$/.test(text.slice(Math.max(0, start - 2), start));
    const value = valueAt(text, end + assigned.length, isWhole || isTight || isAfterSign, isWhole);
    const isLast = kind === "password" && value !== null && endsLine(text, value.end);
    yield value === null || !isLast ? value : { ...value, isSetting: true };
    if (!assigned.includes("{") && text[end + assigned.length] !== "{") return;
  }
  const bracket = matched(BRACKET, text, end);
  if (bracket !== null) yield bare(text, end + bracket.length, true, false);
  if (assigned !== null) {
    const nested = matched(PAIR, text, end);
    if (nested !== null) yield valueAt(text, end + nested.length, true);
    return;
  }
  const fallback = matched(FALLBACK, text, end);
  if (fallback !== null) {
    const isShell = /:[-=]$/.test(fallback);
    const value = valueAt(text, end + fallback.length, isShell);
    if (value !== null && (value.isQuoted || isShell)) yield value;
  }
  const pair = matched(PAIR, text, end);
  if (pair !== null) yield valueAt(text, end + pair.length, true);
  const argument = matched(ARGUMENT, text, end);
  if (argument !== null) yield valueAt(text, end + argument.length, false);
  const variable = matched(VARIABLE, text, end);
  if (variable !== null) yield valueAt(text, end + variable.length, true);
  const from = Math.max(0, start - 4100);
  const [first, last] = BEFORE.exec(text.slice(from, start))?.indices?.groups?.secret ?? [0, 0];
  if (last > 0) yield { start: from + first, end: from + last, isQuoted: false, isSetting: true };
  const cell = matched(CELL, text, end);
  if (cell !== null) yield valueAt(text, end + cell.length, true);
  if (/<(?:\w+:)?$/.test(text.slice(Math.max(0, start - 20), start))) {
    const element = matched(ELEMENT, text, end);
    if (element !== null) yield bare(text, end + element.length, true, false);
  }
  const plist = matched(PLIST, text, end);
  if (plist !== null) yield bare(text, end + plist.length, true, false);
  if (kind === "password") {
    FROM_TO.lastIndex = end;
    const [from, to] = FROM_TO.exec(text)?.indices?.groups?.first ?? [0, 0];
    if (to > 0) {
      yield { start: from, end: to, isQuoted: true, isSetting: true, isFirst: true };
      yield quoted(text, FROM_TO.lastIndex);
    }
    const explained = matched(EXPLAINED, text, end);
    const alone = explained === null ? null : bare(text, end + explained.length, true, true);
    if (alone !== null && isCredential(text.slice(alone.start, alone.end), 8)) yield alone;
  }
  const printed = PROMPT.test(text.slice(Math.max(0, start - 300), start)) ? matched(PRINTED, text, end) : null;
  const output = printed === null ? null : bare(text, end + printed.length, true, true);
  if (output !== null && isCredential(text.slice(output.start, output.end), 12)) yield output;
  const space = matched(SPACE, text, end);
  if (space === null) return;
  const isOption = text[start - 1] === "-" || isSetName(name);
  const atLineStart = LINE_START.test(text.slice(Math.max(0, start - 300), start));
  const value = valueAt(text, end + space.length, isOption, false);
  const said = value === null ? "" : text.slice(value.start, value.end);
  if (value === null || /^--?[a-z][a-z-]*$|^\(|^0x[0-9a-f]+$/i.test(said)) return;
  const isSetting =
    isOption ||
    /machine |login /.test(text.slice(Math.max(0, start - 200), end)) ||
    (atLineStart && endsLine(text, value.end)) ||
    (kind === "password" && (space.trim() !== "" || (said.length >= 8 && /\d.*\d/.test(said))));
  const isSql = value.isQuoted && kind === "password";
  const isLong = said.length >= 16 && !/[(.]/.test(text[value.end] ?? "");
  if (isSetting || isSql || isLong) yield { ...value, isSetting, isQuoted: isSql };
}

function nameAround(text: string, at: number): readonly [start: number, end: number] {
  let start = at;
  while (start > 0 && at - start < LONGEST_NAME && NAME_CHAR.test(text[start - 1] ?? "")) start--;
  let end = at;
  while (end < text.length && end - at < LONGEST_NAME && NAME_CHAR.test(text[end] ?? "")) end++;
  while (start < at && text[start] === "-") start++;
  return [start, end];
}

/** `API` of `API key`: the word before a name that says nothing by itself. */
const wordBefore = (text: string, start: number): string =>
  /([A-Za-z]{2,20}) $/.exec(text.slice(Math.max(0, start - 22), start))?.[1] ?? "";

/** `key:` alone, in a section on encryption or beside a name of a user: `{"username": …, "key": …}`. */
const isNearSecret = (text: string, start: number): boolean =>
  /(?:encryption|crypt|username|secret|credentials?|auth|api)["']?\s*(?::|=>?)[^{}\n]{0,80}[\s,{["'\d|:→-]*$/i.test(
    text.slice(Math.max(0, start - 160), start),
  );

/** What Django writes before a key that it drew; not a part of it. */
const MARK = "django-insecure-";

const hitOf = (text: string, value: Value, kind: NameKind): Hit => ({
  start: value.start + (text.startsWith(MARK, value.start) ? MARK.length : 0),
  end: value.end - (CUT.exec(text.slice(value.start, value.end))?.[0].length ?? 0),
  kind: kind === "password" ? "password" : "secret",
});

/** Values given to a name that says what they are, in settings, code, JSON, tables, options and sentences. */
export const findNamed: Finder = (scan) => {
  const { text } = scan;
  const hits: Hit[] = [];
  visitNames(scan, (at) => {
    const [start, end] = nameAround(text, at);
    // What stands before an address's `@` is found as its login.
    if (/:\/\/[^\s/?#"'`]{0,80}$/.test(text.slice(Math.max(0, start - 84), start))) return end;
    const name = text.slice(start, end);
    const isBareKey = /^["']?keys?["']?$/i.test(name);
    const kind =
      isBareKey && (isOfSecretKey(wordBefore(text, start)) || isNearSecret(text, start))
        ? "key"
        : name === "PWD" && text[start - 1] === ";"
          ? "password"
          : nameKind(name);
    if (kind === null) return end;
    const isOne = (value: Value): boolean => isSecret(text.slice(value.start, value.end).replace(MARK, ""), kind, value);
    for (const value of valuesOf(text, start, end, name, kind)) {
      if (value === null || !isOne(value)) continue;
      const end = value.isQuoted
        ? value.end
        : wrappedEnd(text, text.lastIndexOf("\n", value.start) + 1, value.end, (other) => beginsToken(text, other));
      hits.push(hitOf(text, { ...value, end }, kind));
      if (value.isFirst === true) continue;
      let last = end;
      const isList = /s["']?$/i.test(name);
      for (let gap = isList ? matched(NEXT_OF_LIST, text, last) : null; gap !== null; gap = matched(NEXT_OF_LIST, text, last)) {
        const next = valueAt(text, last + gap.length, true, false);
        if (next === null || !isOne(next)) break;
        hits.push(hitOf(text, next, kind));
        last = next.end;
      }
      return Math.max(end, last);
    }
    return end;
  });
  return hits;
};
