import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { BaseModelEntry } from "@imprint/contracts";
import type { Config } from "@imprint/server/configuration";
import { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { UsageError } from "../errors.js";
import { calledAs, FAMILIES, familyOf, foundGguf, foundGgufs } from "../files/gguf-stores.js";
import { table } from "../output/table.js";
import { bytes } from "../output/text.js";
import { configFor } from "../service/connect.js";
import { followTrainer, runTrainer } from "../service/trainer.js";

/** What a training takes here, on the longest windows that trainings choose. */
interface Training {
  readonly fits: boolean;
  readonly total_mb: number;
  readonly window: number;
}

const stored = async (options: CommonOptions, { io }: CommandContext) => {
  const library = await import("@imprint/server/stored");
  const config = configFor(options, io.env);
  const paths = library.dataPaths(config.settings.data_dir);
  library.ensureDataPaths(paths);
  const models = library.baseModelsOf(config, io.env);
  /** Runs `act`; what is wrong with `given` is wrong usage. */
  const refusing = <T>(given: string, act: () => T): T => {
    try {
      return act();
    } catch (error) {
      throw error instanceof library.ImprintError ? new UsageError(`${given}: ${error.message}\n${error.hint}`) : error;
    }
  };
  return { ...library, config, paths, models, refusing };
};

const pipOf = ({ setup }: Config): readonly string[] => (setup?.pip === undefined ? [] : ["--pip", setup.pip]);

export function modelsCommand(context: CommandContext): Command {
  return new Command("models")
    .description("list, fetch, add or remove base models, and choose the default one")
    .addCommand(listCommand(context), { isDefault: true })
    .addCommand(pullCommand(context))
    .addCommand(addCommand(context))
    .addCommand(removeCommand(context))
    .addCommand(defaultCommand(context));
}

async function trainingOn(location: string, config: Config): Promise<Training | null> {
  try {
    const [report] = (await runTrainer(config, "imprint_trainer.memory_report", ["--base-model", location])) as readonly {
      readonly length: number;
      readonly memory: { readonly fits: boolean; readonly total_mb: number } | null;
    }[];
    return report?.memory ? { fits: report.memory.fits, total_mb: report.memory.total_mb, window: report.length } : null;
  } catch {
    return null; // a model that is listed all the same: doctor --plan says what is wrong with it
  }
}

const TEMPLATES = { tools: "with tools", plain: "without tools" } as const;

function row(one: BaseModelEntry & { readonly training: Training | null }, program: string): readonly string[] {
  const { name, is_default, here, from, size, licence, context_length, template, training } = one;
  const fits = training?.fits ? `fits: ${(training.total_mb / 1000).toFixed(1)} GB` : "does not fit";
  return [
    is_default ? `${name} (default)` : name,
    size === null ? "" : `${bytes(size)}${here ? "" : " to fetch"}`,
    licence ?? "",
    context_length?.toLocaleString("en") ?? "",
    template === null ? "none" : TEMPLATES[template],
    here ? from : `${program} models pull ${name}`,
    training === null ? "" : fits,
  ];
}

/** What Ollama and LM Studio keep that becomes a base model here. */
const readable = ({ io }: CommandContext) =>
  foundGgufs(io.env).flatMap((one) => {
    const family = familyOf(one.file);
    return family !== null && FAMILIES.includes(family) ? [{ ...one, family }] : [];
  });

const foundText = (found: ReturnType<typeof readable>, { io }: CommandContext): string =>
  found.length === 0
    ? ""
    : `\n\nOther programs' files, which are read where they are; ${io.name} models add NAME makes a base model of one:\n${table(
        ["NAME", "SIZE", "FAMILY"],
        found.map(({ name, size, family }) => [name, bytes(size), family]),
        io.paint.out,
      )}`;

const listCommand = (context: CommandContext): Command =>
  newCommand({
    name: "list",
    description: "list the base models that are here, and those that are known",
    examples: ["models", "models --json"],
    service: "data directory",
  }).action(async (options: CommonOptions) => {
    const { config, models, listBaseModels, locateBaseModel } = await stored(options, context);
    const listed = await Promise.all(
      listBaseModels(models).map(async (one) => ({
        ...one,
        training: one.here ? await trainingOn(locateBaseModel(one.name, models).location, config) : null,
      })),
    );
    const { paint, name } = context.io;
    const found = readable(context);
    printerOf(context, options).result({ models: listed, found }, () => {
      const headings = ["MODEL", "SIZE", "LICENCE", "CONTEXT", "TEMPLATE", "FROM", "TRAINING HERE"];
      return table(
        headings,
        listed.map((one) => row(one, name)),
        paint.out,
      ).concat(foundText(found, context));
    });
  });

const pullCommand = (context: CommandContext): Command =>
  newCommand({
    name: "pull",
    description: "fetch a base model of the catalogue, or of the model hub; goes on where it was cut",
    examples: ["models pull qwen2.5-coder-0.5b-instruct", "models pull Qwen/Qwen2.5-Coder-1.5B-Instruct"],
    service: "data directory",
  })
    .argument("<name>", "a name that imprint models lists, or a hub id owner/name")
    .addHelpText("after", "\nGated models need HF_TOKEN, or the hub's own login (hf auth login). HF_ENDPOINT names another hub.")
    .action(async (name: string, options: CommonOptions) => {
      const { config, paths, isModelName, linkModel } = await stored(options, context);
      if (!isModelName(name)) throw new UsageError(`"${name}" is neither a name of a model nor a hub id owner/name`);
      const out = path.join(paths.models, path.basename(name));
      const args = ["models", "pull", name, "--out", out, ...pipOf(config)];
      const made = await followTrainer(config, "imprint_trainer", args, { online: true });
      const { folder } = made as { readonly folder: string };
      // The hub's models stay in the hub's cache, under their own ids; one of the catalogue goes by its name besides.
      if (!name.includes("/") && folder !== out && !linkModel(folder, paths.models, name))
        throw new UsageError(`another base model is called ${name} here: ${context.io.name} models rm ${name} removes it`);
      printerOf(context, options).result({ name, folder }, () => trainingHint(name, context));
    });

const trainingHint = (name: string, { io }: CommandContext): string =>
  `${name} is here.\n  ${io.name} train SESSION --base-model ${name} --watch\n  ${io.name} models default ${name}`;

const addCommand = (context: CommandContext): Command =>
  newCommand({
    name: "add",
    description: "make a folder of this machine, or a GGUF file, known as a base model",
    examples: [
      "models add ./my-model",
      "models add ~/Downloads/model-q4_k_m.gguf --name my-model",
      "models add ollama:qwen3:0.6b",
    ],
    service: "data directory",
  })
    .argument(
      "<path>",
      "folder with safetensors, a .gguf file, or a file of Ollama or LM Studio by its name in imprint models; all stay as they are",
    )
    .option("--name <name>", "what to call a GGUF file's model (default: the file's name)")
    .action(async (given: string, { name, ...options }: CommonOptions & { readonly name?: string }) => {
      const { config, paths, models, isModelName, refusing, requestedBaseModel } = await stored(options, context);
      const found = foundGguf(given, foundGgufs(context.io.env));
      if (found === undefined && /^(?:ollama|lmstudio):/.test(given))
        throw new UsageError(
          `there is no ${given} in the folders of Ollama and LM Studio: ${context.io.name} models lists what is`,
        );
      const place = found?.file ?? path.resolve(given);
      const printer = printerOf(context, options);
      if (found === undefined && !place.endsWith(".gguf")) {
        if (name !== undefined) throw new UsageError("--name is for a .gguf file: a folder goes by its own name");
        const roots = [path.parse(place).root];
        const added = refusing(given, () => requestedBaseModel(place, { ...models, roots }));
        return printer.result(added, () => trainingHint(added.name, context));
      }
      const called = name ?? (found ? calledAs(found) : path.basename(place, ".gguf"));
      if (!isModelName(called) || called.includes("/"))
        throw new UsageError(`"${called}" is no name of a model: give it one with --name`);
      const out = path.join(paths.models, called);
      if (existsSync(out)) throw new UsageError(`another base model is called ${called} here: give it another name with --name`);
      await followTrainer(config, "imprint_trainer", ["models", "add", place, "--out", out]);
      printer.result({ name: called, location: out }, () => trainingHint(called, context));
    });

const removeCommand = (context: CommandContext): Command =>
  newCommand({
    name: "rm",
    description: "remove a base model; what was trained on it can be used again once it is back",
    examples: ["models rm qwen2.5-coder-0.5b-instruct"],
    service: "data directory",
  })
    .argument("<name>", "a base model that is here")
    .action(async (name: string, options: CommonOptions) => {
      const { models, refusing, removeBaseModel } = await stored(options, context);
      refusing(name, () => removeBaseModel(name, models));
      printerOf(context, options).result({ name }, () => `${name} is removed.`);
    });

const defaultCommand = (context: CommandContext): Command =>
  newCommand({
    name: "default",
    description: "choose what trainings and chats take that name no base model",
    examples: ["models default qwen2.5-coder-0.5b-instruct"],
    service: "data directory",
  })
    .argument("<name>", "a base model that is here")
    .action(async (given: string, options: CommonOptions) => {
      const { paths, models, refusing, requestedBaseModel } = await stored(options, context);
      const { name } = refusing(given, () => requestedBaseModel(given, models));
      const file = path.join(paths.root, "config.json");
      const settings = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
      writeFileSync(`${file}.new`, `${JSON.stringify({ ...settings, base_model: name }, null, 2)}\n`, { mode: 0o600 });
      renameSync(`${file}.new`, file);
      const { settings: now, origins } = configFor(options, context.io.env);
      const wins = now.base_model === name ? "" : ` The ${origins.base_model} names ${now.base_model}, which wins.`;
      printerOf(context, options).result({ name }, () => `${name} is the default from the next start of the service on.${wins}`);
    });
