/** Openings of what Gemini CLI and its forks put in the user's place: their own context, hooks' words, summaries. */
const OPENINGS = [
  "<session_context>",
  "<hook_context>",
  "<state_snapshot>",
  "This is the Gemini CLI.",
  "This is the Qwen Code.",
  "System: Please continue.",
  "System: Potential loop detected.",
  "User has manually exited Plan Mode.",
];

/** How what a person ran with `!`, and what it printed, stands in the user's place. */
export const isShell = (text: string): boolean => text.startsWith("I ran the following shell command:\n");

export const isHarness = (text: string): boolean => OPENINGS.some((opening) => text.trimStart().startsWith(opening));
