import type { Outcome } from "@imprint/contracts";
import { type Command, Option } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { UsageError } from "../errors.js";
import { readSince } from "../flags/since.js";
import { runImport } from "../import/run-import.js";
import { dryRun, storing } from "../import/stores.js";
import { importSummary } from "../import/summary.js";
import { withService } from "../service/connect.js";

interface ImportOptions extends CommonOptions {
  readonly outcome?: Outcome;
  readonly since?: string;
  readonly dryRun?: boolean;
  readonly watch?: boolean;
  readonly verbose?: boolean;
}

export function importCommand(context: CommandContext): Command {
  return newCommand({
    name: "import",
    examples: [
      "import ~/.claude/projects --since 7d",
      "import run.traj session.jsonl --outcome success",
      "import ~/.codex/sessions --dry-run",
      "import ~/.claude/projects ~/.codex/sessions --watch",
    ],
  })
    .argument("<path...>", "files of recorded sessions, or folders that hold some")
    .addOption(
      new Option("--outcome <outcome>", "how these sessions ended, where their files do not say it").choices([
        "success",
        "failure",
      ]),
    )
    .option("--since <date>", "only files written since: 2026-01-31, or 12h, 7d, 2w ago")
    .option("--dry-run", "only say what would be stored")
    .option("--watch", "go on and import sessions as they end, until Ctrl-C")
    .option("--verbose", "name every file that is not imported, with all that is known about why")
    .action(async (paths: string[], options: ImportOptions) => {
      if (options.dryRun && options.watch) throw new UsageError("--dry-run and --watch exclude each other");
      const { io, state } = context;
      const printer = printerOf(context, options);
      const known = options.outcome === undefined ? {} : { outcome: options.outcome };
      const since = options.since === undefined ? null : readSince(options.since, Date.now());
      const verbose = options.verbose === true;
      const given = { io, paths, since, note: printer.note, verbose };
      const files = options.dryRun
        ? await runImport({ ...given, connect: (use) => use(dryRun(known)) })
        : await runImport({
            ...given,
            watch: options.watch === true,
            connect: (use) => withService({ io, options, note: printer.note }, ({ client }) => use(storing(client, known))),
          });
      if (files.some(({ status }) => status === "failed")) state.exitCode = 1;
      printer.result({ dry_run: options.dryRun === true, files }, () =>
        importSummary(files, { paint: io.paint.out, verbose, name: io.name }),
      );
    });
}
