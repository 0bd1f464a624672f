import type { Outcome } from "@imprint/contracts";
import { type Command, Option } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { UsageError } from "../errors.js";
import { walk } from "../files/walk.js";
import { importFiles } from "../import/import-files.js";
import { dryRun, storing } from "../import/stores.js";
import { importSummary } from "../import/summary.js";
import { withService } from "../service/connect.js";

const OUTCOMES = ["success", "failure"] as const;

export function importCommand(context: CommandContext): Command {
  return newCommand({
    name: "import",
    description: "store recorded sessions; folders are walked",
    examples: ["import ~/.claude/projects", "import run.traj session.jsonl", "import ~/.codex/sessions --dry-run"],
  })
    .argument("<path...>", "files of recorded sessions, or folders that hold some")
    .addOption(new Option("--outcome <outcome>", "how these sessions ended, where their files do not say it").choices(OUTCOMES))
    .option("--dry-run", "only say what would be stored")
    .action(async (paths: string[], options: CommonOptions & { dryRun?: boolean; outcome?: Outcome }) => {
      const printer = printerOf(context, options);
      const candidates = await walk(paths);
      if (candidates.length === 0) throw new UsageError(`${paths.join(", ")}: no file there looks like a recorded session`);
      const known = options.outcome === undefined ? {} : { outcome: options.outcome };
      const files = options.dryRun
        ? await importFiles(candidates, dryRun(known))
        : await withService({ io: context.io, options, note: printer.note }, ({ client }) =>
            importFiles(candidates, storing(client, known)),
          );
      if (files.some(({ status }) => status === "failed")) context.state.exitCode = 1;
      printer.result({ dry_run: options.dryRun === true, files }, () => importSummary(files, context.io.paint.out));
    });
}
