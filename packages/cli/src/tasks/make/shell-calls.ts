import type { Action } from "./actions.js";
import { commandsOf, type ShellCommand } from "./shell-commands.js";

/** A command that the agent ran, and the call that it was part of. */
export interface Ran {
  readonly command: ShellCommand;
  readonly action: Action;
  /** The action's place among all. */
  readonly at: number;
}

const BACK = /Shell cwd was reset to (\S+)/;

/**
 * Every command of the shell calls. A call begins in the folder that it names, else where the session does; the shell of Claude Code
 * stays where the call before left it.
 */
export function commandsRun(actions: readonly Action[], { folder, stays }: { folder: string; stays: boolean }): readonly Ran[] {
  let current = folder;
  return actions.flatMap((action, at) => {
    if (action.command === null) return [];
    const { commands, folder: left } = commandsOf(action.command, action.folder ?? current);
    if (stays && !action.failed) current = BACK.exec(action.output)?.[1] ?? left;
    return commands.map((command) => ({ command, action, at }));
  });
}
