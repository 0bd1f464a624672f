import path from "node:path";
import { anyName } from "@imprint/contracts";
import { type Config, hypernetworkFolders } from "@imprint/server/configuration";
import { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { UsageError } from "../errors.js";
import { table } from "../output/table.js";
import { bytes } from "../output/text.js";
import { configFor } from "../service/connect.js";
import { runTrainer, showTrainer } from "../service/trainer.js";

const MODULE = "imprint_trainer.imprint.cli";
/** Reads what others published, and is loaded for nothing else. */
const CONVERTER = "doc_to_lora.checkpoint";
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$/;
const NAME_REFUSED = `--name must be ${anyName(96)}`;

interface Installed {
  readonly name: string;
  readonly base_model: string | null;
  readonly size: number;
  readonly problem: string | null;
  /** How it makes adapters: "ridge" of what the agent wrote, "perceiver" of a document (Doc-to-LoRA). */
  readonly kind: string | null;
}

interface Converted {
  readonly path: string;
  /** The first of one's own for the base model. */
  readonly used: string;
  readonly config: unknown;
}

interface ConvertOptions extends CommonOptions {
  readonly base: string;
  readonly name: string;
}

interface MeasureOptions extends CommonOptions {
  readonly base: string;
  readonly baseName?: string;
  readonly texts: readonly string[];
  readonly name: string;
}

/** Options of the trainer's commands that go through as they are; it names them when it refuses one. */
const MACHINE = ["seed", "quantization", "device", "threads"] as const;

const installed = ({ name, base }: ConvertOptions, used: string | undefined, program: string): string =>
  used === name
    ? `${name} is installed: ${program} train SESSION --method hypernetwork uses it where the base model is ${base}.`
    : `${name} is installed, and not used: of the hypernetworks for ${base}, ${used} comes first by name.`;

const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function passed(options: object, names: readonly string[]): readonly string[] {
  const given = options as Readonly<Record<string, string | undefined>>;
  return names.flatMap((name) => (given[name] === undefined ? [] : [flagOf(name), given[name]]));
}

/** A base model that is here by its name, or a folder. */
async function baseFlags(config: Config, { base, baseName }: MeasureOptions, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const { baseModelsOf, locateBaseModel, preparedModels } = await import("@imprint/server/stored");
  const models = baseModelsOf(config, env);
  const location = preparedModels(models).includes(base) ? locateBaseModel(base, models).location : path.resolve(base);
  return ["--base", location, "--base-name", baseName ?? path.basename(base)];
}

export function hypernetworksCommand(context: CommandContext): Command {
  return new Command("hypernetworks")
    .description("list, measure or convert hypernetworks: what makes an adapter in one forward pass")
    .addCommand(listCommand(context), { isDefault: true })
    .addCommand(measureCommand(context))
    .addCommand(convertCommand(context));
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
      const rows = installed.map((one) => [one.name, one.kind ?? "", one.base_model ?? "", bytes(one.size), one.problem ?? "ok"]);
      return table(["HYPERNETWORK", "KIND", "BASE MODEL", "SIZE", "STATE"], rows, context.io.paint.out);
    });
  });

const measureCommand = (context: CommandContext): Command =>
  newCommand({
    name: "measure",
    description: "make a closed-form hypernetwork for a base model from ordinary text, in minutes, into the data directory",
    examples: ["hypernetworks measure --base ./my-model --texts /usr/share/doc ~/notes --name my-model"],
    service: "data directory",
  })
    .requiredOption("--base <model>", "name of a prepared base model, or a folder")
    .requiredOption("--texts <place...>", "files, and folders of text and source: what adapters are to leave alone")
    .requiredOption("--name <name>", "what to call it")
    .option("--base-name <name>", "name by which the service knows the base model (default: the folder's)")
    .option("--tokens <n>", "tokens of the texts (default: 60000)")
    .option("--seed <n>", "seed of what is drawn from the texts")
    .option("--quantization <kind>", "nf4 or none: how the base model is loaded")
    .option("--device <device>", "auto, cpu or cuda")
    .option("--threads <n>", "threads of the CPU")
    .action(async (options: MeasureOptions) => {
      if (!NAME.test(options.name)) throw new UsageError(NAME_REFUSED);
      const config = configFor(options, context.io.env);
      context.state.exitCode = await showTrainer(config, MODULE, [
        "measure",
        ...(await baseFlags(config, options, context.io.env)),
        ...["--texts", ...options.texts.map((place) => path.resolve(place))],
        ...["--out", path.join(hypernetworkFolders(config)[0], options.name)],
        ...passed(options, ["tokens", ...MACHINE]),
        ...(options.json === true ? ["--json"] : []),
      ]);
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
      if (!NAME.test(options.name)) throw new UsageError(NAME_REFUSED);
      const config = configFor(options, context.io.env);
      const out = path.join(hypernetworkFolders(config)[0], options.name);
      const args = [path.resolve(checkpoint), "--base", options.base, "--out", out];
      const [made] = (await runTrainer(config, CONVERTER, args)) as readonly Converted[];
      printerOf(context, options).result(made, () => installed(options, made?.used, context.io.name));
    });
