import path from "node:path";
import { hypernetworkFolders } from "@imprint/server/configuration";
import { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { UsageError } from "../errors.js";
import { table } from "../output/table.js";
import { bytes } from "../output/text.js";
import { configFor } from "../service/connect.js";
import { runTrainer, showTrainer } from "../service/trainer.js";

const MODULE = "imprint_trainer.doc_to_lora.cli";
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$/;

interface Installed {
  readonly name: string;
  readonly base_model: string | null;
  readonly size: number;
  readonly problem: string | null;
}

interface ConvertOptions extends CommonOptions {
  readonly base: string;
  readonly name: string;
}

interface TrainOptions extends CommonOptions {
  readonly base: string;
  readonly baseName?: string;
  readonly out: string;
  readonly data?: string;
  readonly config?: string;
  readonly init?: string;
}

/** Options of the trainer's command that go through as they are; it names them when it refuses one. */
const PASSED = ["steps", "seed", "documents", "distillationWeight", "maxMinutes", "quantization", "device", "threads"] as const;

const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

export function hypernetworksCommand(context: CommandContext): Command {
  return new Command("hypernetworks")
    .description("list, convert or train hypernetworks: networks that make an adapter in one forward pass")
    .addCommand(listCommand(context), { isDefault: true })
    .addCommand(convertCommand(context))
    .addCommand(trainCommand(context));
}

const listCommand = (context: CommandContext): Command =>
  newCommand({
    name: "list",
    description: "list the installed hypernetworks, one's own and those that Imprint ships",
    examples: ["hypernetworks list"],
    service: "data directory",
  }).action(async (options: CommonOptions) => {
    const config = configFor(options, context.io.env);
    const folders = hypernetworkFolders(config);
    const installed = (await runTrainer(config, MODULE, ["list", "--dir", ...folders])) as readonly Installed[];
    printerOf(context, options).result({ hypernetworks: installed }, () => {
      if (installed.length === 0) return `No hypernetworks in ${folders.join(" or ")}.`;
      const rows = installed.map(({ name, base_model, size, problem }) => [name, base_model ?? "", bytes(size), problem ?? "ok"]);
      return table(["HYPERNETWORK", "BASE MODEL", "SIZE", "STATE"], rows, context.io.paint.out);
    });
  });

const convertCommand = (context: CommandContext): Command =>
  newCommand({
    name: "convert",
    description: "convert a published Doc-to-LoRA checkpoint (pytorch_model.bin) into the data directory",
    examples: ["hypernetworks convert ./pytorch_model.bin --base Qwen/Qwen3-4B-Instruct-2507 --name qwen3-4b"],
    service: "data directory",
  })
    .argument("<path>", "checkpoint to convert")
    .requiredOption("--base <model>", "base model that the checkpoint was trained for")
    .requiredOption("--name <name>", "what to call it")
    .action(async (checkpoint: string, options: ConvertOptions) => {
      if (!NAME.test(options.name)) throw new UsageError(`--name is not of the allowed form ${NAME.source}`);
      const config = configFor(options, context.io.env);
      const out = path.join(hypernetworkFolders(config)[0], options.name);
      const [made] = await runTrainer(config, MODULE, [
        "convert",
        path.resolve(checkpoint),
        "--base",
        options.base,
        "--out",
        out,
      ]);
      printerOf(context, options).result(
        made,
        () => `${options.name} is installed. ${context.io.name} train SESSION --method hypernetwork uses it.`,
      );
    });

function trainCommand(context: CommandContext): Command {
  const command = newCommand({
    name: "train",
    description: "train a hypernetwork for a base model; the same command goes on where it was interrupted",
    examples: [
      "hypernetworks train --base SmolLM2-135M-Instruct --out runs/smollm2",
      "hypernetworks train --base ./my-model --out runs/mine --data pairs.jsonl --steps 2000",
    ],
    service: "data directory",
  })
    .requiredOption("--base <model>", "name of a prepared base model, or a folder")
    .requiredOption("--out <folder>", "folder of the training; the result is its sub-folder hypernetwork")
    .option("--base-name <name>", "name by which the service knows the base model (default: the folder's)")
    .option("--data <source>", "synthetic, a JSONL file of {document, question, answer}, or a folder of sessions")
    .option("--init <folder>", "trained hypernetwork to go on from: same base and shape, or fewer ranks")
    .option("--config <file>", "JSON file of settings; the flags win over it")
    .option("--steps <n>", "steps of the training")
    .option("--seed <n>", "seed of weights and data")
    .option("--documents <n>", "documents in a step")
    .option("--distillation-weight <share>", "share of the base model's own predictions in the loss, 0 to 1")
    .option("--max-minutes <n>", "stop after this time")
    .option("--quantization <kind>", "nf4 or none: how the base model is loaded")
    .option("--device <device>", "auto, cpu or cuda")
    .option("--threads <n>", "threads of the CPU");
  return command.action(async (options: TrainOptions) => {
    const config = configFor(options, context.io.env);
    const prepared = config.setup?.models[options.base];
    const given = options as unknown as Readonly<Record<string, string | undefined>>;
    const flags = PASSED.flatMap((name) => (given[name] === undefined ? [] : [flagOf(name), given[name]]));
    const data = options.data === undefined || options.data === "synthetic" ? options.data : path.resolve(options.data);
    context.state.exitCode = await showTrainer(config, MODULE, [
      "train",
      ...["--base", prepared ?? path.resolve(options.base)],
      ...["--base-name", options.baseName ?? path.basename(options.base)],
      ...["--out", path.resolve(options.out)],
      ...(data === undefined ? [] : ["--data", data]),
      ...(options.init === undefined ? [] : ["--init", path.resolve(options.init)]),
      ...(options.config === undefined ? [] : ["--config", path.resolve(options.config)]),
      ...flags,
      ...(options.json === true ? ["--json"] : []),
    ]);
  });
}
