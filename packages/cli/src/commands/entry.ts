import type { Command } from "commander";
import type { CommandContext } from "../context.js";

/** What the help says of a command, and where the command is: its module is loaded when it is called. */
export interface Entry {
  readonly name: string;
  readonly args?: string;
  readonly description: string;
  /** Whether it consists of sub-commands, which have the options. */
  readonly group?: true;
  readonly load: () => Promise<(context: CommandContext) => Command>;
}
