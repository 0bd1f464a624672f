import path from "node:path";
import type { Config } from "@imprint/server/configuration";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { UsageError } from "../errors.js";
import { table } from "../output/table.js";
import { bytes } from "../output/text.js";
import { configFor } from "../service/connect.js";
import { runTrainer } from "../service/trainer.js";

const MODULE = "imprint_trainer.doc_to_lora.cli";
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$/;

interface Installed {
  readonly name: string;
  readonly base_model: string | null;
  readonly size: number;
  readonly problem: string | null;
}

interface HypernetworksOptions extends CommonOptions {
  readonly convert?: string;
  readonly base?: string;
  readonly name?: string;
}

const folderOf = ({ settings }: Config): string => path.join(settings.data_dir, "hypernetworks");

function conversion({ convert = "", base, name }: HypernetworksOptions, folder: string): readonly string[] {
  if (base === undefined || name === undefined) throw new UsageError("--convert needs --base MODEL and --name NAME");
  if (!NAME.test(name)) throw new UsageError(`--name is not of the allowed form ${NAME.source}`);
  return ["convert", path.resolve(convert), "--base", base, "--out", path.join(folder, name)];
}

export function hypernetworksCommand(context: CommandContext): Command {
  return newCommand({
    name: "hypernetworks",
    description: "list the installed hypernetworks, or convert a published checkpoint",
    examples: ["hypernetworks", "hypernetworks --convert ./pytorch_model.bin --base Qwen/Qwen3-4B-Instruct-2507 --name qwen3-4b"],
    service: "data directory",
  })
    .option("--convert <file>", "checkpoint to convert into the data directory")
    .option("--base <model>", "with --convert: base model that the checkpoint was trained for")
    .option("--name <name>", "with --convert: what to call it")
    .action(async (options: HypernetworksOptions) => {
      const printer = printerOf(context, options);
      const config = configFor(options, context.io.env);
      const folder = folderOf(config);
      if (options.convert !== undefined) {
        const [made] = await runTrainer(config, MODULE, conversion(options, folder));
        return printer.result(made, () => `${options.name} is installed. imprint train SESSION --method hypernetwork uses it.`);
      }
      const installed = (await runTrainer(config, MODULE, ["list", "--dir", folder])) as readonly Installed[];
      printer.result({ hypernetworks: installed }, () => {
        if (installed.length === 0) return `No hypernetworks in ${folder}.`;
        const rows = installed.map(({ name, base_model, size, problem }) => [
          name,
          base_model ?? "",
          bytes(size),
          problem ?? "ok",
        ]);
        return table(["HYPERNETWORK", "BASE MODEL", "SIZE", "STATE"], rows, context.io.paint.out);
      });
    });
}
