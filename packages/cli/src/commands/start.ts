import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { CommandError, UsageError } from "../errors.js";
import { agentFolders } from "../files/agent-folders.js";
import type { Candidate } from "../files/candidate.js";
import { walk } from "../files/walk.js";
import type { ImportedFile } from "../import/import-files.js";
import { AGENTS } from "../launch/agents.js";
import { ask, canAsk, isYes } from "../output/ask.js";
import { waitingFor } from "../output/printer.js";
import { table } from "../output/table.js";
import { bytes, count, shellWord } from "../output/text.js";
import { importMembers, sessionsIn } from "../project/import-members.js";
import { scopeOf } from "../project/scope.js";
import { type Surveyed, survey } from "../project/survey.js";
import { withService } from "../service/connect.js";

interface StartOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly within: string;
}

const LISTED = 10;
/** The newest are read: more would take longer than a first training may take. */
const NEWEST = 20;

/** The agent that recorded most of them, of those that can be launched. */
function mostUsed(files: readonly ImportedFile[]): string {
  const formats = files.flatMap(({ sessions }) => sessions.map(({ format }) => format));
  const times = (agent: string): number => formats.filter((format) => format === AGENTS[agent]?.name).length;
  return Object.keys(AGENTS).reduce((most, agent) => (times(agent) > times(most) ? agent : most), "claude");
}

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
    .option("--within <duration>", "how long the training may take", "10m")
    .action(async ({ yes = false, within, ...options }: StartOptions) => {
      const { io, run } = context;
      const printer = printerOf(context, options);
      if (!yes && !canAsk(io)) throw new UsageError("start asks questions: --yes answers them all");
      const question = async (text: string, usual: string): Promise<string> => {
        const answer = yes ? "" : await ask(io, text);
        if (answer === null) throw new CommandError("Stopped, and nothing more was done.");
        return answer || usual;
      };
      const folder = options.dataDir === undefined ? [] : ["--data-dir", options.dataDir];
      const service = options.url === undefined ? folder : [...folder, "--url", options.url];
      /** With --json, standard output is for the one document at the end. */
      const then = (...args: readonly string[]) => run(args, options.json ? { ...io, out: io.err } : io);

      const places = await agentFolders(io.env, async () => true);
      const looked = async () => {
        const { candidates } = await walk(places);
        return { files: candidates.length, found: await survey(candidates) };
      };
      const { files: all, found } = await waitingFor("looking through recordings", looked(), printer.note);
      const [first] = found;
      if (first === undefined)
        throw new UsageError(
          `no agent has recorded anything here in a folder that is still there: ${io.name} import FOLDER takes recordings from elsewhere`,
        );
      const shown = found.slice(0, LISTED);
      const headings = ["", "repository", "recordings", "size", "written", "folder"];
      io.err.write(`${table(headings, shown.map(rowOf), io.paint.err)}\n`);
      const unplaced = all - found.reduce((sum, { recordings }) => sum + recordings, 0);
      if (unplaced > 0)
        printer.note(`${count(unplaced, "file")} more of no folder that is still there: ${io.name} import takes them`);
      if (found.length > shown.length) printer.note(`${found.length - shown.length} more: name one to train on it`);

      const keep = await question("Keep compressed copies before the agents delete them, secrets too? [Y/n] ", "y");
      if (isYes(keep) && (await then("archive", "--yes", ...folder)) !== 0)
        throw new CommandError("The recordings are not kept: nothing was trained.");
      const answer = await question(`Train on which? [1: ${first.name}, the most work of late] `, "1");
      const chosen = shown[Number(answer) - 1] ?? found.find(({ name }) => name.toLowerCase() === answer);
      if (chosen === undefined) throw new UsageError(`${answer} is none of the repositories: answer with a number of the list`);

      const scope = await scopeOf(chosen.root);
      const filter = async (candidates: readonly Candidate[]) =>
        [...(await scope.filter(candidates))].sort((a, b) => b.modified - a.modified).slice(0, NEWEST);
      const files = await withService({ io, options, note: printer.note }, ({ client }) =>
        importMembers({ io, folders: places, client, note: printer.note, scope: { ...scope, filter } }),
      );
      const ids = sessionsIn(files);
      const training = ["--profile", "learn", "--within", within, "--skip-invalid", "true", "--watch"];
      if ((await then("train", ...ids, ...training, ...service)) !== 0)
        throw new CommandError(`The training did not end well: ${io.name} start begins it again.`);
      if (ids.length > 1) {
        printer.note("Does it help with a session that it has not seen?");
        await then("evaluate", "latest", "--actions", "0", ...service);
      }
      const agent = mostUsed(files);
      const next = [`${io.name} serve`, `cd ${shellWord(chosen.root)} && ${io.name} launch ${agent} latest`];
      printer.result({ repository: chosen, session_ids: ids, next }, () =>
        ["", "Run your agent on it, with the service in another terminal:", ...next.map((line) => `  ${line}`)].join("\n"),
      );
    });
}
