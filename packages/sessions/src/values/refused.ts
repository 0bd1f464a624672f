/** What agents write as the result of a call that the person did not allow. */
const REFUSED = [
  /^(?:Error: )?The user doesn't want to proceed with this tool use/, // Claude Code
  /^(?:Error: )?The user rejected permission to use this specific tool call/, // opencode
  /^(?:\[[\w-]+[^\n]*\] Result:\s*)?The user denied this operation/, // Cline
  /^(?:exec command |patch |command )?rejected by user\b/i, // Codex
  /^\[Operation Cancelled\]/, // Gemini CLI, Qwen Code
] as const;

export const isRefusal = (result: string): boolean => REFUSED.some((form) => form.test(result.trimStart()));
