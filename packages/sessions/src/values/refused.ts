/** What agents write as the result of a call that the person did not allow. */
const REFUSED = [
  /^(?:Error: )?The user doesn't want to proceed with this tool use/, // Claude Code
  /^(?:Error: )?The user rejected permission to use this specific tool call/, // opencode
  /^(?:\[[\w-]+[^\n]*\] Result:\s*)?The user denied this operation/, // Cline
  /^(?:exec command |patch |command )?rejected by user\b/i, // Codex
  /^\[Operation Cancelled\]/, // Gemini CLI, Qwen Code
] as const;

/** What a person wants no more who says "use X instead of Y": Y's words. */
const INSTEAD = /\b(?:instead of|rather than)\s+([^\n.,;!?]{2,80})|\buse\s[^\n.;!?]{1,60}?(?:,| and) not\s+([^\n.,;!?]{2,80})/gi;
const ARTICLE = /^(?:a|an|any|it|my|our|that|the|this|your)$/i;
const LONGEST = 400; // characters: longer words ask for other work

/** Whether a person's words take back a call: it holds what they name after "instead of", or the beginning of that. */
export function takesBack(words: string, call: string): boolean {
  if (words.length > LONGEST) return false;
  const within = spaced(call.replace(/"[\w-]+"\s*:/g, " "));
  return [...words.matchAll(INSTEAD)].some(([, instead, not]) => {
    const [first = "", ...others] = (instead ?? not ?? "").trim().split(/\s+/);
    // What is named may go on with where: "axios in this file".
    const named = ARTICLE.test(first) ? others[0] : first;
    return named !== undefined && within.includes(spaced(named));
  });
}

/** Its words, each between spaces. */
const spaced = (text: string): string => ` ${text.replace(/[^\w-]+/g, " ").trim()} `;

export const isRefusal = (result: string): boolean => REFUSED.some((form) => form.test(result.trimStart()));
