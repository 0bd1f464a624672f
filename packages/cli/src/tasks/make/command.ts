import path from "node:path";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../../context.js";
import { CommandError, UsageError } from "../../errors.js";
import { repositoryAt } from "../../files/repository.js";
import { plain } from "../../output/text.js";
import { withService } from "../../service/connect.js";
import { findSandbox } from "../sandbox/find.js";
import { isGit } from "../workspace.js";
import { makeTask } from "./make-task.js";
import { recordedSession, storedSession } from "./read-session.js";

interface MakeOptions extends CommonOptions {
  readonly repo: string;
  readonly in?: string;
  readonly sandbox: boolean;
}

/** The top of the repository, or a bare one. Throws a UsageError for what is neither. */
async function repositoryOf(given: string): Promise<string> {
  const { root } = await repositoryAt(given);
  const found = [path.resolve(given), root];
  for (const folder of found) if (await isGit(folder)) return folder;
  throw new UsageError(`--repo ${given}: git keeps no repository there: name the one that the session worked in`);
}

export const makeCommand = (context: CommandContext): Command =>
  newCommand({
    name: "make",
    description: "make a task of a recorded session and its repository, and verify it",
    examples: [
      "tasks make latest --repo .",
      "tasks make 29ccd257 --repo ~/code/shop",
      "tasks make session.jsonl --repo . --json",
    ],
  })
    .argument("<session>", "id of a stored session, the beginning of it, latest, or a recording's file")
    .requiredOption("--repo <path>", "the repository that the session worked in")
    .option("--in <folder>", "where the task goes (default: tasks in the repository)")
    .option("--no-sandbox", "run the check without a sandbox, as you would")
    .action(async (given: string, options: MakeOptions) => {
      const { io } = context;
      const printer = printerOf(context, options);
      const { note } = printer;
      const repo = await repositoryOf(options.repo);
      const into = path.resolve(options.in ?? path.join(repo, "tasks"));
      const sandbox = await findSandbox({ io, noSandbox: !options.sandbox });
      const session =
        (await recordedSession(given)) ??
        (await withService({ io, options, note }, ({ client }) => storedSession(given, { client, note })));
      const stop = new AbortController();
      const listen = io.onInterrupt(() => stop.abort());
      const made = await makeTask({ session, repo, into, sandbox, signal: stop.signal, note }).finally(listen);
      if ("why" in made) {
        for (const sentence of made.evidence) note(sentence);
        throw new CommandError(`No task: ${plain(made.why)}.`);
      }
      const { task, file } = made.loaded;
      printer.result({ task: task.name, file, commit: task.commit, check: task.check, evidence: made.evidence }, () =>
        [`Task ${task.name}: fails before, passes after; ${file}`, ...made.evidence.map(plain)].join("\n"),
      );
    });
