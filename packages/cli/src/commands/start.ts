import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { CommandError, UsageError } from "../errors.js";
import { agentFolders } from "../files/agent-folders.js";
import { walk } from "../files/walk.js";
import { ask } from "../output/ask.js";
import { waitingFor } from "../output/printer.js";
import { table } from "../output/table.js";
import { bytes, shellWord } from "../output/text.js";
import { importMembers, sessionsIn } from "../project/import-members.js";
import { scopeOf } from "../project/scope.js";
import { type Surveyed, survey } from "../project/survey.js";
import { run } from "../run.js";
import { withService } from "../service/connect.js";

interface StartOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly within: string;
}

const LISTED = 10;
/** The newest ones are trained on: more would take longer to read than a first training may take. */
const TRAINED = 20;

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

const rowOf = ({ name, recordings, bytes: size, first, last, root }: Surveyed, at: number): readonly string[] => [
  String(at + 1),
  name,
  String(recordings),
  bytes(size),
  `${dayOf(first)} to ${dayOf(last)}`,
  root,
];

export function startCommand(context: CommandContext): Command {
  return newCommand({ name: "start", examples: ["start", "start --yes", "start --within 30m"] })
    .option("--yes", "take the first answer to every question")
    .option("--within <duration>", "how long the training may take", "8m")
    .action(async ({ yes = false, within, ...options }: StartOptions) => {
      const { io, state } = context;
      const printer = printerOf(context, options);
      if (!yes && !(io.input.isTTY && io.err.isTTY)) throw new UsageError("start asks questions: --yes answers them all");
      const stop = new AbortController();
      const question = async (text: string, usual: string): Promise<string> =>
        yes ? usual : (await ask(io, text, stop.signal)) || usual;
      const where = ["data-dir" as const, "url" as const].flatMap((name) => {
        const value = name === "url" ? options.url : options.dataDir;
        return value === undefined ? [] : [`--${name}`, value];
      });
      /** Another command, as if it had been typed. Throws a CommandError where it fails. */
      const then = async (...args: readonly string[]): Promise<void> => {
        const code = await run(args, io);
        if (code !== 0) throw new CommandError(`${io.name} ${args[0]} did not end well: ${io.name} start goes on from here.`);
      };

      const places = await agentFolders(io.env, async () => true);
      const looked = async () => survey((await walk(places)).candidates);
      const found = places.length === 0 ? [] : await waitingFor("looking through recordings", looked(), printer.note);
      const [first] = found;
      if (first === undefined)
        throw new UsageError(
          `no agent has recorded anything here in a folder that is still there: ${io.name} import FOLDER takes recordings from elsewhere`,
        );
      const shown = found.slice(0, LISTED);
      const headings = ["", "repository", "recordings", "size", "written", "folder"];
      printer.note(table(headings, shown.map(rowOf), io.paint.err));
      if (found.length > shown.length) printer.note(`${found.length - shown.length} more: name one to train on it`);

      const keep = await question("Keep compressed copies before the agents delete them, secrets too? [Y/n] ", "y");
      if (keep.startsWith("y")) await then("archive", "--yes", ...where.slice(0, options.dataDir === undefined ? 0 : 2));
      const answer = await question(`Train on which? [1: ${first.name}, the most work of late] `, "1");
      const chosen = shown[Number(answer) - 1] ?? found.find(({ name }) => name.toLowerCase() === answer);
      if (chosen === undefined) throw new UsageError(`${answer} is none of the repositories: answer with a number of the list`);

      const scope = await scopeOf(chosen.root);
      const newest = {
        ...scope,
        filter: async (candidates: Parameters<typeof scope.filter>[0]) =>
          [...(await scope.filter(candidates))].sort((a, b) => b.modified - a.modified).slice(0, TRAINED),
      };
      const ids = await withService({ io, options, note: printer.note }, async ({ client }) =>
        sessionsIn(await importMembers({ io, folders: places, client, note: printer.note, scope: newest })),
      );
      await then("train", ...ids, "--profile", "learn", "--within", within, "--skip-invalid", "true", "--watch", ...where);
      const next = [`${io.name} serve`, `cd ${shellWord(chosen.root)} && ${io.name} launch claude latest`];
      printer.result({ repository: chosen, sessions: ids, next }, () =>
        ["", "Run an agent on it, with the service in another terminal:", ...next.map((line) => `  ${line}`)].join("\n"),
      );
      state.exitCode = 0;
    });
}
