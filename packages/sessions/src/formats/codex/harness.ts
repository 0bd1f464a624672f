/** Openings of what Codex itself puts before or between a person's messages. */
const OPENINGS = [
  "# AGENTS.md instructions",
  "<permissions instructions>",
  "<INSTRUCTIONS>",
  "<skill>",
  "<skills>",
  "<apps>",
  "<collaboration_mode>",
  "The following is the Codex agent history",
  "Another language model started to solve this problem",
  "Warning: apply_patch was requested via",
];
/** A whole message in one element with a snake_case name, such as `<environment_context>`. */
const WRAPPED = /^<([a-z]+(?:_[a-z]+)+)\b[^>]*>[\s\S]*<\/\1>$/;
/** Editors put open files and selections before what the person asked. */
const IDE_CONTEXT = "# Context from my IDE setup:";
const IDE_REQUEST = /^## My request for Codex:[ \t]*\n?/m;

const SHELL = /^<user_shell_command>\s*<command>\n([\s\S]*?)\n<\/command>\n<result>\n(Exit code: .*\n)Duration: .*\nOutput:\n/;
const SHELL_END = "</result>\n</user_shell_command>";

/** What a person ran with `!`, and what it printed, as a terminal shows it; null for any other part. */
export function shellText(part: string): string | null {
  const text = part.trim();
  const [head, command, exit = ""] = (text.endsWith(SHELL_END) && SHELL.exec(text)) || [];
  if (head === undefined) return null;
  return `$ ${command}\n${exit.endsWith(" 0\n") ? "" : exit}${text.slice(head.length, -SHELL_END.length)}`.trimEnd();
}

/** Whether a part tells how a helper ended, and what it said last. */
export const isAgentNote = (part: string): boolean => part.trimStart().startsWith("<subagent_notification>");

/** The person's words in one part of a user message; null when the part is the harness's. */
export function personText(part: string): string | null {
  const text = part.trim();
  if (OPENINGS.some((opening) => text.startsWith(opening)) || WRAPPED.test(text)) return null;
  if (!text.startsWith(IDE_CONTEXT)) return part;
  const request = IDE_REQUEST.exec(text);
  return request === null ? null : text.slice(request.index + request[0].length);
}
