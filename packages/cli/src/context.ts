import { Command } from "commander";
import { COMMANDS } from "./commands/names.js";
import type { Io } from "./io.js";
import { createPrinter, type Printer } from "./output/printer.js";

/** What every command is made with. A command that finds failures without throwing sets `exitCode`. */
export interface CommandContext {
  readonly io: Io;
  readonly state: { exitCode: number };
  /** Runs another command line, as if it had been typed: see run.ts. */
  readonly run: (args: readonly string[], io: Io) => Promise<number>;
}

/** Options of every command that talks to the service. */
export interface ServiceOptions {
  readonly dataDir?: string;
  readonly url?: string;
}

export interface CommonOptions extends ServiceOptions {
  readonly json?: boolean;
}

export interface NewCommand {
  readonly name: string;
  /** By default what the list of commands says. */
  readonly description?: string;
  readonly examples: readonly string[];
  /** What of the service the command needs; by default the service itself. */
  readonly service?: "none" | "data directory" | "running";
}

const programOf = (command: Command): Command => (command.parent === null ? command : programOf(command.parent));

/** A command with what all have: `--json`, where the service is, and examples in the help. */
export function newCommand({ name, description, examples, service = "running" }: NewCommand): Command {
  const about = description ?? COMMANDS.find((one) => one.name === name)?.description ?? "";
  const command = new Command(name).description(about).option("--json", "print one JSON document on standard output");
  if (service !== "none") {
    command.option("--data-dir <folder>", "data directory of the service (default: IMPRINT_DATA_DIR or ~/.imprint)");
  }
  if (service === "running") {
    command.option("--url <address>", "address of a running service (default: the one of the data directory)");
  }
  return command.addHelpText("after", () => {
    const shown = examples.map((example) => `  $ ${programOf(command).name()} ${example}`).join("\n");
    return `\nExamples:\n${shown}`;
  });
}

export const printerOf = ({ io }: CommandContext, options: CommonOptions): Printer => createPrinter(io, options.json === true);
