import type { Parent } from "@imprint/contracts";

/**
 * What steers a terminal or is not seen: controls but line break and tab, marks of direction, zero-width characters, tags, separators of
 * lines and paragraphs, blank letters.
 */
const UNSEEN = "(?![\\n\\t])[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\u034f\\u115f\\u1160\\u3164\\uffa0]";
const ANY_UNSEEN = new RegExp(UNSEEN, "gu");
/** The same, or a sequence that sets a style. */
const STYLE_OR_UNSEEN = new RegExp(`(\\u001b\\[\\d{1,2}m)|${UNSEEN}`, "gu");

const escaped = (character: string): string => {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
};

/** Text from elsewhere (a session, a model, a log, a service) with what is not seen as escapes, such as `\u202e`. */
export const plain = (text: string): string => text.replaceAll("\r\n", "\n").replaceAll(ANY_UNSEEN, escaped);

/** The same for text that is painted: styles stay. */
export const plainButStyles = (text: string): string =>
  text.replaceAll("\r\n", "\n").replaceAll(STYLE_OR_UNSEEN, (found, style?: string) => style ?? escaped(found));

/** A JSON document that means the same, with what is not seen as JSON's own escapes. */
export const plainJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(ANY_UNSEEN, (character) => character.split("").map(escaped).join(""));

/** On one line, with an ellipsis where it is too long. */
export function shorten(text: string, length: number): string {
  const line = plain(text.replaceAll(/\s+/g, " ").trim());
  return line.length <= length ? line : `${line.slice(0, length - 1)}…`;
}

export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = count < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(count) / 3));
  const value = count / 1000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}

/** 0:07, 12:30, 1:02:03. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const [hours = 0, minutes = 0, rest = 0] = parts;
  const tail = String(rest).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${tail}` : `${minutes}:${tail}`;
}

export const count = (amount: number, noun: string): string => `${amount.toLocaleString("en")} ${noun}${amount === 1 ? "" : "s"}`;

/** What a training holds out. */
export const heldOutSessions = ({ sessions, whole }: { readonly sessions: readonly string[]; readonly whole: boolean }): string =>
  `${whole ? "" : "the last part of "}${names(sessions, "session")}`;

/** At most three names; of more, how many there are besides. */
export function names(all: readonly string[], noun: string): string {
  const [shown, hidden] = [all.slice(0, 3).map(plain), all.length - 3];
  return hidden > 0 ? `${shown.join(", ")} and ${count(hidden, `other ${noun}`)}` : shown.join(", ");
}

/** A session's task, behind how it came from another session. */
export const taskOf = ({ task, parent }: { readonly task: string; readonly parent?: Parent | undefined }): string =>
  parent === undefined ? task : `${parent.kinship}: ${task}`;

/** A text as a shell reads it as one word. */
export const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
