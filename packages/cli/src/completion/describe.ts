import type { Command, Option } from "commander";

export interface Flag {
  readonly name: string;
  readonly description: string;
  readonly takesValue: boolean;
  /** Its only values; empty when any text will do. */
  readonly values: readonly string[];
}

/** A command as completion needs it: what can stand after it. */
export interface Described {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly Flag[];
  /** The only values of its first argument; empty when it has none or any text will do. */
  readonly values: readonly string[];
  readonly commands: readonly Described[];
}

const flagOf = ({ long, description, argChoices, required, optional }: Option): readonly Flag[] =>
  long ? [{ name: long, description, takesValue: required || optional, values: argChoices ?? [] }] : [];

/** What a command's help knows, its own `--help` included. */
export const describe = (command: Command): Described => ({
  name: command.name(),
  description: command.description(),
  flags: [
    ...command.options.flatMap(flagOf),
    { name: "--help", description: "display help for command", takesValue: false, values: [] },
  ],
  values: command.registeredArguments[0]?.argChoices ?? [],
  commands: command.commands.map(describe),
});
