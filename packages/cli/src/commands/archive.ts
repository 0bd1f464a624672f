import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { archivePass } from "../archive/pass.js";
import { type Archive, type Kept, openArchive, read, restore } from "../archive/store.js";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { CommandError, UsageError } from "../errors.js";
import { agentFolders, isThere } from "../files/agent-folders.js";
import { ask, canAsk, isYes } from "../output/ask.js";
import { waitingFor } from "../output/printer.js";
import { bytes, count } from "../output/text.js";
import { configFor } from "../service/connect.js";

interface ArchiveOptions extends CommonOptions {
  readonly search?: string;
  readonly restore?: boolean;
  readonly to?: string;
  readonly force?: boolean;
  readonly yes?: boolean;
}

const DAY_MS = 86_400_000;
const CLAUDE_DAYS = 30;
const SOON_DAYS = 7;

/** After how many days Claude Code deletes its recordings, by its user's settings. */
function claudeDays(folder: string): number {
  try {
    const { cleanupPeriodDays: days } = JSON.parse(readFileSync(path.join(folder, "settings.json"), "utf8"));
    return typeof days === "number" ? days : CLAUDE_DAYS;
  } catch {
    return CLAUDE_DAYS;
  }
}

/** What Claude Code is about to delete, in a sentence; null where that is nothing. */
function soonDeleted(archive: Archive, env: NodeJS.ProcessEnv): string | null {
  const folder = env.CLAUDE_CONFIG_DIR || path.join(homedir(), ".claude");
  const days = claudeDays(folder);
  const before = Date.now() - (days - SOON_DAYS) * DAY_MS;
  const projects = path.join(folder, "projects") + path.sep;
  const old = [...archive.files.values()].filter((one) => one.path.startsWith(projects) && one.modified < before);
  if (old.length === 0) return null;
  return `Claude Code deletes recordings after ${days} days (cleanupPeriodDays): ${count(old.length, "file")} within a week. They stay here.`;
}

const digestOf = async (file: string): Promise<string> => {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
};

interface Restored {
  readonly restored: readonly string[];
  readonly there: number;
  /** Another file stands there. */
  readonly kept: readonly string[];
}

/** Writes the files back, or below `to`; what stands there with other content stays unless `force`. */
async function restoreAll(archive: Archive, files: readonly Kept[], { to, force = false }: ArchiveOptions): Promise<Restored> {
  const [restored, kept]: [string[], string[]] = [[], []];
  let there = 0;
  for (const { path: file, sha256 } of files) {
    const target = to === undefined ? file : path.join(path.resolve(to), path.relative(path.parse(file).root, file));
    const isTaken = await isThere(target);
    if (isTaken && (await digestOf(target)) === sha256) there += 1;
    else if (isTaken && !force) kept.push(target);
    else {
      await restore(archive, sha256, target);
      restored.push(target);
    }
  }
  return { restored, there, kept };
}

async function holding(archive: Archive, words: string): Promise<readonly Kept[]> {
  const found: Kept[] = [];
  for (const one of archive.files.values())
    if (one.path.includes(words) || (await text(read(archive, one.sha256))).includes(words)) found.push(one);
  return found;
}

export function archiveCommand(context: CommandContext): Command {
  return newCommand({
    name: "archive",
    examples: ["archive", "archive --search 'retry the upload'", "archive --restore", "archive --restore --to ./recordings"],
    service: "data directory",
  })
    .argument("[folder...]", "what is kept; by default the folders of the agents that are known")
    .option("--search <text>", "list the kept recordings that hold a text")
    .option("--restore", "write back what is gone from its place; with --to, everything")
    .option("--to <folder>", "write below this folder")
    .option("--force", "write over files that are there with other content")
    .option("--yes", "do not ask, the first time")
    .addHelpText(
      "after",
      "\nCopies are raw and compressed, and hold what recordings hold, secrets too: redaction is done on import. Of a file that was cut or\nrewritten the older content stays; of one that grew, and of databases, the newest.",
    )
    .action(async (folders: string[], options: ArchiveOptions) => {
      const { io, state } = context;
      const printer = printerOf(context, options);
      if (options.search !== undefined && options.restore) throw new UsageError("--search and --restore exclude each other");
      if (!options.restore && (options.to !== undefined || options.force))
        throw new UsageError("--to and --force go with --restore");
      const folder = path.join(configFor(options, io.env).settings.data_dir, "archive");
      const existing = await openArchive(folder);
      const archive = existing ?? { folder, files: new Map() };
      if (options.search !== undefined) {
        const found = await holding(archive, options.search);
        return printer.result({ files: found }, () => found.map((one) => one.path).join("\n") || "No kept recording holds it.");
      }
      if (options.restore) {
        const wanted = [...archive.files.values()];
        const there = await Promise.all(wanted.map(async (one) => options.to === undefined && (await isThere(one.path))));
        const done = await restoreAll(
          archive,
          wanted.filter((_, at) => !there[at]),
          options,
        );
        if (done.kept.length > 0) state.exitCode = 1;
        return printer.result(done, () =>
          [
            `Restored ${count(done.restored.length, "file")}.`,
            ...done.kept.map((file) => `Not written, since another file is there (--force): ${file}`),
          ].join("\n"),
        );
      }
      const places = folders.length > 0 ? folders.map((one) => path.resolve(one)) : await agentFolders(io.env, async () => true);
      for (const one of places) if (!(await isThere(one))) throw new UsageError(`there is no folder ${one}`);
      if (places.length === 0) throw new UsageError("no agent has recorded anything here: name folders to keep");
      if (existing === null && !options.yes) {
        const what = `Keep compressed copies of what is recorded in ${places.join(", ")}, secrets too, in ${folder}?`;
        if (!canAsk(io)) throw new UsageError(`the first time, archive wants --yes: ${what}`);
        const answer = await ask(io, `${what} [y/N] `);
        if (!isYes(answer)) {
          state.exitCode = 1;
          return printer.result({ archived: false }, () => "Nothing is kept.");
        }
      }
      const stop = new AbortController();
      const ignore = io.onInterrupt(() =>
        stop.abort(new CommandError("Stopped. What was copied is kept; the same command goes on.")),
      );
      try {
        const passed = await waitingFor(
          "copying recordings",
          archivePass({ archive, places, signal: stop.signal }),
          printer.note,
        );
        if (passed.failed.length > 0) state.exitCode = 1;
        const size = [...archive.files.values()].reduce((sum, one) => sum + one.size, 0);
        const soon = soonDeleted(archive, io.env);
        printer.result({ folder, files: archive.files.size, bytes: size, ...passed, gone: passed.gone.length, soon }, () =>
          [
            `Kept in ${folder}: ${count(archive.files.size, "file")}, ${bytes(size)} of recordings.`,
            `${passed.new} new, ${passed.changed} changed; ${passed.gone.length} are gone from their places and stay here.`,
            ...(soon === null ? [] : [soon]),
            ...passed.failed.map(({ path: file, reason }) => `Not kept: ${file}: ${reason}`),
          ].join("\n"),
        );
      } finally {
        ignore();
      }
    });
}
