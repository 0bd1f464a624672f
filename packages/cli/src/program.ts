import { Command } from "commander";
import { LOADERS } from "./commands/list.js";
import { COMMANDS, type CommandName } from "./commands/names.js";
import { type CommandContext, newCommand } from "./context.js";

const introduction = (
  name: string,
): string => `Turns recorded coding sessions into LoRA adapters, with proof that they learned something.

  $ ${name} import ~/.claude/projects     store your sessions
  $ ${name} sessions                      what is stored
  $ ${name} train SESSION --watch         train an adapter on one
  $ ${name} chat ADAPTER_ID               try it

Commands use the running service (${name} serve), or run what they need in their own process and say so.`;

/** The name of the command that a line calls or asks about. The program itself has no options that take a value. */
function calledBy(args: readonly string[]): string | undefined {
  const [first, second] = args.filter((arg) => !arg.startsWith("-"));
  return first === "help" ? second : first;
}

/** A command as the list in the help shows it. */
function outline({ name, args, description, optionless }: CommandName): Command {
  if (optionless) return new Command(name).description(description);
  const command = newCommand({ name, examples: [], service: "none" });
  return args === undefined ? command : command.arguments(args);
}

/** The command line, with the code of the one command that `args` call. Parsing throws a CommanderError instead of ending the process. */
export async function createProgram({
  io,
  state,
  run,
  args,
}: CommandContext & { readonly args: readonly string[] }): Promise<Command> {
  const program = new Command(io.name).description(introduction(io.name)).version("0.1.0").showHelpAfterError(false);
  const called = calledBy(args);
  for (const entry of COMMANDS) {
    program.addCommand(entry.name === called ? (await LOADERS[entry.name]())({ io, state, run }) : outline(entry));
  }
  program.addHelpText(
    "after",
    "\nExit codes: 0 done, 1 failed, 2 wrong usage. With --json, standard output is one JSON document.",
  );
  for (const command of [program, ...program.commands, ...program.commands.flatMap((one) => one.commands)]) {
    command.exitOverride();
    command.configureOutput({
      writeOut: (text) => void io.out.write(text),
      writeErr: (text) => void io.err.write(text),
      // run() prints errors, once and in one shape.
      outputError: () => undefined,
    });
  }
  return program;
}
