import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { CommandError, UsageError } from "../errors.js";
import type { Io } from "../io.js";
import { configFor } from "../service/connect.js";
import { discover } from "../service/discover.js";
import { type Unit, unitFor } from "../service/unit.js";

const runFile = promisify(execFile);

/** What would start it, and where a service of the data directory answers. */
async function look(options: CommonOptions, { env, name }: Io) {
  const { settings, token } = configFor(options, env);
  const dataDir = path.resolve(settings.data_dir);
  const command = [process.execPath, realpathSync(process.argv[1] ?? ""), "serve", "--data-dir", dataDir];
  const unit = unitFor(command, { platform: process.platform, env, user: process.getuid?.() ?? 0 });
  if (unit === null)
    throw new UsageError(`${process.platform} has neither systemd nor launchd: start ${name} serve by its own scheduler`);
  const running = await discover({ dataDir, token });
  return { unit, isInstalled: existsSync(unit.file), dataDir, url: running?.url ?? null };
}

/** Runs them one after another. Rejects with the first that fails. */
async function runAll(commands: Unit["start"]): Promise<void> {
  for (const [program = "", ...args] of commands) {
    await runFile(program, args).catch((error: Error & { readonly stderr?: string }) => {
      const said = error.stderr?.trim() || error.message;
      throw new CommandError(`${[program, ...args].join(" ")} failed: ${said}`);
    });
  }
}

const subcommand = (name: string, description: string) =>
  newCommand({ name, description, examples: [`service ${name}`], service: "data directory" });

export function serviceCommand(context: CommandContext): Command {
  const { io } = context;
  const install = subcommand("install", "start the service now and at each login").action(async (options: CommonOptions) => {
    const { unit, isInstalled, dataDir, url } = await look(options, io);
    if (url !== null && !isInstalled) throw new CommandError(`A service already runs on ${dataDir}, at ${url}: stop it first.`);
    await mkdir(path.dirname(unit.file), { recursive: true });
    await writeFile(unit.file, unit.text);
    await runAll(unit.start);
    printerOf(context, options).result({ file: unit.file, data_dir: dataDir }, () =>
      [`Starts at each login, and runs: ${unit.file}`, `${io.name} service status tells where it answers.`].join("\n"),
    );
  });
  const status = subcommand("status", "say whether it is installed and runs").action(async (options: CommonOptions) => {
    const { unit, isInstalled, dataDir, url } = await look(options, io);
    const file = isInstalled ? unit.file : null;
    printerOf(context, options).result({ file, url }, () =>
      [
        file === null ? `Not installed: ${io.name} service install starts it at each login.` : `Installed: ${file}`,
        url === null ? `No service runs on ${dataDir}.` : `Running at ${url}.`,
      ].join("\n"),
    );
  });
  const remove = subcommand("remove", "stop it, and start it at no login").action(async (options: CommonOptions) => {
    const { unit, isInstalled } = await look(options, io);
    if (!isInstalled) throw new UsageError(`it is not installed: ${unit.file} is not there`);
    await runAll(unit.stop);
    await rm(unit.file);
    printerOf(context, options).result({ file: unit.file }, () => `Removed ${unit.file}; sessions and adapters stay.`);
  });
  return new Command("service")
    .description("start the service at each login: systemd on Linux, launchd on macOS")
    .addCommand(install)
    .addCommand(status)
    .addCommand(remove);
}
