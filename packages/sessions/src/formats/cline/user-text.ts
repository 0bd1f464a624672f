import { isString, objectOrEmpty, parseJson } from "../../values/json.js";
import { isRefusal } from "../../values/refused.js";

/** What Cline itself puts beside a person's words and its tools' results. */
const HARNESS =
  /^\s*(?:<environment_details>|<explicit_instructions\b|<hook_context\b|<mode_notice\b|\[TASK RESUMPTION\]|\[NOTE\] |\(The user did not provide|The user has provided feedback on the results\.|# (?:task_progress|todo list)\b)/i;
const SUMMARY = /^\s*(?:This session is being continued from a previous|The user has accepted the condensed)/;
const DETAILS = "<environment_details>";
/** The tool's reproach for an answer without a call, in the user's place. */
const REPROACH = /^\s*\[ERROR\]|\(This is an automated message/;
/** The elements that hold what a person wrote, and those of them that stand inside a tool's result. */
const OWN_ELEMENT = /^\s*<(task|feedback|answer|user_message|user_input)\b[^>]*>\n?/;
const ELEMENT_IN_RESULT = /<(feedback|answer|user_message)>\n?/;
/** What the tool says ahead of a person's words: nothing, or one short sentence. */
const LEAD = /^(?:[^\n]{0,300}[:.])?$/;
/** A decision about a call, in newer versions: one line of JSON. */
const DECIDED = /^\{"status":"(?:approved|denied)".*/;
const HEADLINE_END = "] Result:";
const RESULT = /^\s*\[([\w-]+)(?:\]| for )/;
const NOT_EXECUTED = /^\s*Tool \[([\w-]+)\] (?:was not executed|has been called)/;

export type UserBlock =
  | { readonly kind: "harness" | "summary" | "reproach" }
  | { readonly kind: "person"; readonly text: string }
  | { readonly kind: "result"; readonly tool: string; readonly failed: boolean }
  | { readonly kind: "plain" };

/** The text without the details of the editor that stand at its end. */
export function withoutDetails(text: string): string {
  const at = text.lastIndexOf(DETAILS);
  return at > 0 && text.trimEnd().endsWith("</environment_details>") ? text.slice(0, at).trimEnd() : text;
}

/** What stands in the element `name` that opens at `from`, and what follows it: the files that the words speak of. */
function unwrapped(text: string, name: string, from: number): string {
  const end = text.indexOf(`</${name}>`, from);
  if (end < 0) return text.slice(from);
  return `${text.slice(from, end).replace(/\n$/, "")}${text.slice(end + name.length + 3)}`;
}

/** A person's words in a tool's result, as the feedback to it or the answer to its question; null where there are none. */
export function wordsInResult(text: string): string | null {
  const [decided] = DECIDED.exec(text) ?? [];
  const { feedback } = objectOrEmpty(decided === undefined ? null : parseJson(decided));
  if (isString(feedback) && feedback.trim() !== "") return feedback;
  const found = ELEMENT_IN_RESULT.exec(text.slice(0, 10_000));
  if (found === null) return null;
  const ahead = text.slice(0, found.index);
  const lead = ahead.slice(ahead.lastIndexOf(HEADLINE_END) + (ahead.includes(HEADLINE_END) ? HEADLINE_END.length : 1));
  if (!LEAD.test(lead.trim())) return null;
  const words = unwrapped(text, found[1] ?? "", found.index + found[0].length);
  return words.trim() === "" ? null : words;
}

/** Whether a result says that its tool failed or was refused. */
export const isFailure = (text: string): boolean =>
  isRefusal(text) ||
  /^(?:\[[\w-]+[^\n]*\] Result:\s*)?(?:The tool execution failed|\{"status":"error"|\[ERROR\])/.test(text.trimStart());

export function classifyBlock(text: string): UserBlock {
  if (HARNESS.test(text)) {
    // New instructions can stand in the note that a task was resumed.
    const at = text.indexOf("<user_message>");
    return at < 0 ? { kind: "harness" } : { kind: "person", text: unwrapped(text, "user_message", at + 14).trimStart() };
  }
  if (SUMMARY.test(text)) return { kind: "summary" };
  const own = OWN_ELEMENT.exec(text);
  if (own !== null) return { kind: "person", text: unwrapped(text, own[1] ?? "", own[0].length) };
  const skipped = NOT_EXECUTED.exec(text);
  if (skipped !== null) return { kind: "result", tool: skipped[1] ?? "", failed: true };
  const result = text.slice(0, 4000).includes(HEADLINE_END) ? RESULT.exec(text) : null;
  if (result !== null) return { kind: "result", tool: result[1] ?? "", failed: isFailure(text) };
  const words = wordsInResult(text);
  if (words !== null) return { kind: "person", text: words };
  return { kind: REPROACH.test(text) ? "reproach" : "plain" };
}
