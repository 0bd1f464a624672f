/** Openings of what Gemini CLI and its forks put in the user's place: their own context, hooks' words, summaries. */
const OPENINGS = [
  "<session_context>",
  "<hook_context>",
  "<state_snapshot>",
  "This is the Gemini CLI.",
  "This is the Qwen Code.",
  "System: Please continue.",
];

export const isHarness = (text: string): boolean => OPENINGS.some((opening) => text.trimStart().startsWith(opening));
