import { Command } from "commander";
import { adapterCommand } from "./commands/adapter.js";
import { adaptersCommand } from "./commands/adapters.js";
import { cancelCommand } from "./commands/cancel.js";
import { chatCommand } from "./commands/chat.js";
import { doctorCommand } from "./commands/doctor.js";
import { hypernetworksCommand } from "./commands/hypernetworks.js";
import { importCommand } from "./commands/import.js";
import { inspectCommand } from "./commands/inspect.js";
import { jobCommand } from "./commands/job.js";
import { jobsCommand } from "./commands/jobs.js";
import { labelCommand } from "./commands/label.js";
import { modelsCommand } from "./commands/models.js";
import { previewCommand } from "./commands/preview.js";
import { serveCommand } from "./commands/serve.js";
import { sessionsCommand } from "./commands/sessions.js";
import { trainCommand } from "./commands/train.js";
import type { CommandContext } from "./context.js";
import type { Io } from "./io.js";

const COMMANDS: readonly ((context: CommandContext) => Command)[] = [
  serveCommand,
  doctorCommand,
  inspectCommand,
  importCommand,
  sessionsCommand,
  labelCommand,
  previewCommand,
  trainCommand,
  jobsCommand,
  jobCommand,
  cancelCommand,
  adaptersCommand,
  adapterCommand,
  chatCommand,
  modelsCommand,
  hypernetworksCommand,
];

const INTRODUCTION = `Turns recorded coding sessions into LoRA adapters, with proof that they learned something.

  $ imprint import ~/.claude/projects     store your sessions
  $ imprint sessions                      what is stored
  $ imprint train SESSION --watch         train an adapter on one
  $ imprint chat ADAPTER_ID               try it

Commands use the running service (imprint serve), or run what they need in their own process and say so.`;

/** The whole command line. Parsing throws a CommanderError instead of ending the process. */
export function createProgram(io: Io, state: CommandContext["state"]): Command {
  const program = new Command("imprint").description(INTRODUCTION).version("0.1.0").showHelpAfterError(false);
  for (const create of COMMANDS) program.addCommand(create({ io, state }));
  program.addHelpText(
    "after",
    "\nExit codes: 0 done, 1 failed, 2 wrong usage. With --json, standard output is one JSON document.",
  );
  for (const command of [program, ...program.commands]) {
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
