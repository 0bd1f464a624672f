import { existsSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import path from "node:path";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { CommandError, UsageError } from "../errors.js";
import { ask, canAsk, isYes } from "../output/ask.js";
import { bytes } from "../output/text.js";
import { configFor } from "../service/connect.js";
import { discover } from "../service/discover.js";

interface UninstallOptions extends CommonOptions {
  readonly yes?: boolean;
  readonly everything?: boolean;
}

async function sizeOf(place: string): Promise<number> {
  const found = await lstat(place);
  if (!found.isDirectory()) return found.size;
  const sizes = await Promise.all((await readdir(place)).map((name) => sizeOf(path.join(place, name))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** What the set-up keeps in its cache, which may hold a person's own files too. */
const OURS = /^(?:python|tools|agent|ray)-|^models$/;

async function inCache(python: string | undefined): Promise<readonly string[]> {
  if (python === undefined) return [];
  const cache = path.resolve(python, "..", "..", ".."); // of CACHE/python-KEY/bin/python
  return (await readdir(cache)).filter((name) => OURS.test(name)).map((name) => path.join(cache, name));
}

/** Lists what would go, asks, and removes it. */
export function uninstallCommand(context: CommandContext): Command {
  return newCommand({
    name: "uninstall",
    examples: ["uninstall", "uninstall --yes", "uninstall --everything"],
    service: "data directory",
  })
    .option("--everything", "the data directory too: sessions, adapters, fetched models")
    .option("--yes", "do not ask")
    .action(async (options: UninstallOptions) => {
      const { io, state } = context;
      const printer = printerOf(context, options);
      if (!options.yes && !canAsk(io)) throw new UsageError("without a terminal to ask on, uninstall wants --yes");
      const config = configFor(options, io.env);
      const { data_dir } = config.settings;
      const running = await discover({ dataDir: data_dir, token: config.token });
      if (running !== null) throw new CommandError(`The service runs at ${running.url}: stop it first.`);
      const data = existsSync(path.join(data_dir, "registry.db")) ? [data_dir] : [];
      const places = [
        ...(await inCache(config.setup?.python)),
        path.join(config.repoRoot, "packages", "server", "llama-cpp", "node_modules"),
        path.join(config.repoRoot, ".imprint"),
        ...(options.everything ? data : []),
      ].filter((place) => existsSync(place));
      const found = await Promise.all(places.map(async (place) => ({ path: place, bytes: await sizeOf(place) })));
      for (const one of found) printer.note(`${bytes(one.bytes).padStart(9)}  ${one.path}`);
      if (!options.everything) for (const place of data) printer.note(`     kept  ${place} (--everything removes it)`);
      if (!options.yes) {
        const answer = await ask(io, "Remove these? [y/N] ");
        if (!isYes(answer)) {
          state.exitCode = 1;
          return printer.result({ removed: [] }, () => "Nothing is removed.");
        }
      }
      for (const one of found) await rm(one.path, { recursive: true, force: true });
      printer.result({ removed: found }, () => "Removed. The command itself goes with npm uninstall -g @imprint-lora/imprint");
    });
}
