import { count, type Parent } from "@imprint/contracts";

export { bytes, count, duration } from "@imprint/contracts";

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
