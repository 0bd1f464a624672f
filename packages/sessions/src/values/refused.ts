import { beginsAs } from "./content-text.js";

/** What agents write as the result of a call that the person, or a rule or guard in their place, did not allow. */
const REFUSED = [
  /^(?:Error: )?The user doesn't want to (?:proceed with this tool use|take this action)/, // Claude Code
  /^(?:Error: )?Permission (?:for|to) .{1,400}? (?:was|has been) denied\b/, // its rules and guards
  /^(?:Error: )?Claude requested permissions? .{1,400}? haven't granted it yet/, // where nobody could be asked
  /^(?:Error: )?The user (?:rejected permission to use this specific tool call|has specified a rule which prevents)/, // opencode
  /^(?:\[[\w-]+[^\n]*\] Result:\s*)?(?:\{"status":"denied",(?=.{0,20}The user denied|"feedback":)|The user denied this operation)/, // Cline
  /^(?:Tool execution|Permission) denied by (?:user|policy)\b/, // Cline, Continue, Gemini CLI
  /^(?:Wall time: .*\n|exec[ _]command |patch |command )?(?:failed: .{0,60})?\W*(?:rejected|aborted) by user\b/i, // Codex
  /^The user (?:rejected this tool call|cancelled the tool call\.|chose to skip the tool call)/, // Copilot CLI, VS Code
  /^Command not executed\. (?:The user rejected|Switching to human mode)/, // mini-SWE-agent
  /^Action has been rejected by the user!/, // OpenHands
  /^\[Operation Cancelled\]/, // Gemini CLI, Qwen Code
  /^(?:The user has declined to run this tool\.|(?:-\d+: )*Tool call cancelled by user)/, // Goose
] as const;

/** And where the person changed what it was to do, and let it be then. */
const EDITED = [
  /^(?:The file|Applied \d+ edits?) .{1,500}\.\s{1,2}The user modified your proposed changes/, // Claude Code
  /^(?:\[[\w-]+[^\n]*\] Result:\s*)?The user made the following updates to your content:/, // Cline
  /^(?:<file_write_result>|\{"path":")[\s\S]{0,2000}?(?:<user_edits>|"user_edits":)/, // its forks
  /^(?:Successfully|Created|The file)[\s\S]*? User modified the `(?:new_string|content)` (?:content )?to be: /, // Gemini CLI, Qwen Code
] as const;

/** What a person wants no more who says "use X instead of Y": Y's words. */
const INSTEAD = /\b(?:instead of|rather than)\s+([^\n.,;!?]{2,80})|\buse\s[^\n.;!?]{1,60}?(?:,| and) not\s+([^\n.,;!?]{2,80})/gi;
const ARTICLE = /^(?:a|an|any|it|my|our|that|the|this|your)$/i;
const LONGEST = 400; // characters: longer words ask for other work

/** What a person's words take back: what they name after "instead of", or the beginning of that. */
export const takenBack = (words: string): readonly string[] =>
  words.length > LONGEST
    ? []
    : [...words.matchAll(INSTEAD)].flatMap(([, instead, not]) => {
        const [first = "", second = []] = (instead ?? not ?? "").trim().split(/\s+/);
        // What is named may go on with where: "axios in this file".
        return ARTICLE.test(first) ? second : first;
      });

/** Whether a call holds one of these. */
export function holds(call: string, named: readonly string[]): boolean {
  const within = spaced(call.replace(/"[\w-]+"\s*:/g, " "));
  return named.some((one) => within.includes(spaced(one)));
}

/** Its words, each between spaces. */
const spaced = (text: string): string => ` ${text.replace(/[^\w-]+/g, " ").trim()} `;

export const isRefusal = (result: string): boolean => beginsAs(REFUSED, result);
export const wasEdited = (result: string): boolean => beginsAs(EDITED, result);
