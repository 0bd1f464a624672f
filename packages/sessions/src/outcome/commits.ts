import type { Run } from "./runs.js";

const COMMITS = /\bgit\b[^|;&\n]*\bcommit\b(?![^|;&\n]*--dry-run)/;
const TAKES_BACK = /\bgit\b[^|;&\n]*\b(?:revert\b|reset\b[^|;&\n]*(?:HEAD[~^]|ORIG_HEAD))/;
const MADE = /^\[([^\]\n]+?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.*)$/m;
const CHANGED = /\b\d+ files? changed\b/;

/** A commit that a command made; `hash` is null where its output does not say it. */
export interface Commit {
  readonly hash: string | null;
  readonly subject: string;
}

/** The commit that a command made; null where it made none, or its output does not say that it did. */
export function commitOf({ command, output, passed }: Run): Commit | null {
  if (output === null || passed === false || !COMMITS.test(command)) return null;
  const [, , hash, subject] = MADE.exec(output) ?? [];
  if (hash !== undefined && subject !== undefined) return { hash, subject: subject.trim() };
  return CHANGED.test(output) && !/\bFAILED\b|\bfatal:|\berror:/.test(output) ? { hash: null, subject: "" } : null;
}

/** Whether a command takes the commit before back. */
export const takesBack = ({ command, output, passed }: Run): boolean =>
  output !== null && passed !== false && TAKES_BACK.test(command);
