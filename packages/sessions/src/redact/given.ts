import type { Place } from "./values.js";

/** A value as it stands in a text. */
export interface Value extends Place {
  readonly start: number;
  readonly end: number;
  /** Whether another one follows: what was and what is. */
  readonly isFirst?: boolean;
}

/** The beginning of a string of code, with the call that it is an argument of: `Secret("`. */
const CALL = /(?:[A-Za-z_][\w.]{0,40}\([ \t]*)?[rbufRBU$@]{0,2}["']?(?=["'`])/y;
const BARE = /[^\s"'`]{4,8000}/y;
const END_OF_BARE = /[,;&|<>)}\]]|\\(?=\s|$)/;
const COMMENT = /[ \t]*(?:[;,][ \t]*)?(?:(?:#|\/\/)[^\n]*)?(?=[\n"'`]|$)/y;

/** What an expression matches at a place. */
export function matched(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

/** Whether nothing but a comment follows in the line. */
export const endsLine = (text: string, at: number): boolean => matched(COMMENT, text, at) !== null;

/** A value in quotes that ends in its line. */
export function quoted(text: string, at: number): Value | null {
  const quote = text[at] ?? "";
  const stop = text.indexOf(quote, at + 1);
  const line = text.indexOf("\n", at + 1);
  if (stop < 0 || (line >= 0 && line < stop)) return null;
  return { start: at + 1, end: stop, isQuoted: true, isSetting: false };
}

/** A value without quotes: to the end of the word where nothing else stands in its line, or to what ends it in code. */
export function bare(text: string, at: number, isSetting: boolean, isWhole: boolean): Value | null {
  const word = matched(BARE, text, at);
  if (word === null) return null;
  if (isWhole && endsLine(text, at + word.length))
    return { start: at, end: at + word.replace(/[,;]$/, "").length, isQuoted: false, isSetting };
  const stop = END_OF_BARE.exec(word)?.index ?? word.length;
  return { start: at, end: at + word.slice(0, stop).replace(/[.:?]+$/, "").length, isQuoted: false, isSetting };
}

/** The value that begins at a place, in quotes or not. */
export function valueAt(text: string, at: number, isSetting: boolean, isWhole = isSetting): Value | null {
  const call = matched(CALL, text, at);
  return call !== null ? quoted(text, at + call.length) : bare(text, at, isSetting, isWhole);
}
