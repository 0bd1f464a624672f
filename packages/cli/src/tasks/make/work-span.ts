import type { Edited } from "./edits.js";
import type { Ran } from "./shell-calls.js";

/** A part of a session's actions: from one, up to before another. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

const MOVES = new Set(["checkout", "switch", "pull", "merge", "rebase", "reset", "stash", "am", "cherry-pick", "revert"]);

/** What git was called with, without the options before its verb. */
export function gitArguments({ command: { words } }: Ran): readonly string[] | null {
  const [program, ...all] = words.map(({ text }) => text);
  if (program !== "git") return null;
  const verb = all.findIndex((one, at) => !one.startsWith("-") && !/^-[Cc]$/.test(all[at - 1] ?? ""));
  return verb < 0 ? null : all.slice(verb);
}

/** Whether a command puts another state into the working tree. A new branch alone does not, nor does putting files back. */
function moves(ran: Ran): boolean {
  const [verb = "", ...rest] = gitArguments(ran) ?? [];
  if (!MOVES.has(verb) || ran.action.failed) return false;
  if (verb === "reset") return rest.includes("--hard");
  if (verb === "stash") return !/^(?:list|show|push|drop)$/.test(rest[0] ?? "");
  const isNew = rest.some((one) => /^-[bBcC]$|^--create$/.test(one));
  return !rest.includes("--") && !(isNew && rest.filter((one) => !one.startsWith("-")).length < 2);
}

/** The actions that saw the state which the session's first change was made to: git put no other one there meanwhile. */
export function workSpan(ran: readonly Ran[], edits: readonly Edited[]): Span {
  const committed = ran.find((one) => gitArguments(one)?.[0] === "commit");
  const change = Math.min(edits[0]?.at ?? Number.POSITIVE_INFINITY, committed?.at ?? Number.POSITIVE_INFINITY);
  const moved = ran.filter(moves).map(({ at }) => at);
  // Where nothing is known to have changed, the first state is meant.
  const before = change === Number.POSITIVE_INFINITY ? undefined : moved.findLast((at) => at < change);
  const from = before === undefined ? 0 : before + 1;
  return { from, to: moved.find((at) => at >= from) ?? Number.POSITIVE_INFINITY };
}
