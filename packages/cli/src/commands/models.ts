import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type BaseModelEntry, BaseModelName } from "@imprint/contracts";
import { matches } from "@imprint/contracts/fields";
import { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { UsageError } from "../errors.js";
import { calledAs, FAMILIES, familyOf, foundGguf, foundGgufs, isGguf } from "../files/gguf-stores.js";
import { waitingFor } from "../output/printer.js";
import { table } from "../output/table.js";
import { bytes } from "../output/text.js";
import { configFor, withService } from "../service/connect.js";
import { followTrainer } from "../service/trainer.js";
import { follow } from "../watch/follow.js";
import { trainingHint } from "../watch/outcome.js";

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

export function modelsCommand(context: CommandContext): Command {
  return new Command("models")
    .description("list, fetch, add or remove base models, and choose the default one")
    .addCommand(listCommand(context), { isDefault: true })
    .addCommand(pullCommand(context))
    .addCommand(addCommand(context))
    .addCommand(removeCommand(context))
    .addCommand(defaultCommand(context));
}

const TEMPLATES = { tools: "with tools", plain: "without tools" } as const;

function row(one: BaseModelEntry, program: string): readonly string[] {
  const { name, is_default, here, from, size, licence, context_length, template, weights, engine, training } = one;
  const takes = training === null ? "" : `${(training.total_mb / 1000).toFixed(1)} GB`;
  return [
    is_default ? `${name} (default)` : name,
    size === null ? "" : `${bytes(size)}${here ? "" : " to fetch"}`,
    licence ?? "",
    context_length?.toLocaleString("en") ?? "",
    template === null ? "none" : TEMPLATES[template],
    weights ?? "",
    here ? from : `${program} models pull ${name}`,
    training === null ? "" : training.fits ? `fits: ${takes}` : `does not fit: ${takes}`,
    engine ?? "",
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
const HEADINGS = ["MODEL", "SIZE", "LICENCE", "CONTEXT", "TEMPLATE", "WEIGHTS", "FROM", "TRAINING HERE", "CHATS BY"];

const listCommand = (context: CommandContext): Command =>
  newCommand({
    name: "list",
    description: "list the base models that are here, and those that are known",
    examples: ["models", "models --json"],
  }).action(async (options: CommonOptions) => {
    const printer = printerOf(context, options);
    await withService({ io: context.io, options, note: printer.note }, async ({ client }) => {
      const listed = await client.models.bases();
      const found = readable(context);
      const { paint, name } = context.io;
      printer.result({ ...listed, found }, () =>
        table(
          HEADINGS,
          listed.models.map((one) => row(one, name)),
          paint.out,
        ).concat(foundText(found, context)),
      );
    });
  });

const pullCommand = (context: CommandContext): Command =>
  newCommand({
    name: "pull",
    description: "fetch a base model of the catalogue, or of the model hub; goes on where it was cut",
    examples: ["models pull qwen2.5-coder-0.5b-instruct", "models pull Qwen/Qwen2.5-Coder-1.5B-Instruct"],
  })
    .argument("<name>", "a name that imprint models lists, or a hub id owner/name")
    .addHelpText(
      "after",
      "\nGated models need HF_TOKEN where the service runs, or the hub's own login (hf auth login). HF_ENDPOINT names another hub.",
    )
    .action(async (name: string, options: CommonOptions) => {
      if (!matches(BaseModelName, name)) throw new UsageError(`"${name}" is neither a name of a model nor a hub id owner/name`);
      const printer = printerOf(context, options);
      await withService({ io: context.io, options, note: printer.note }, async (service) => {
        const { job_id } = await service.client.models.pull(name);
        await follow({ context, printer, service, jobId: job_id });
      });
    });

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
      if (found === undefined && !isGguf(place)) {
        if (name !== undefined) throw new UsageError("--name is for a .gguf file: a folder goes by its own name");
        const roots = [path.parse(place).root];
        const added = refusing(given, () => requestedBaseModel(place, { ...models, roots }));
        return printer.result(added, () => trainingHint(added.name, context.io.name));
      }
      const called = name ?? (found ? calledAs(found) : path.parse(place).name);
      if (!isModelName(called) || called.includes("/"))
        throw new UsageError(`"${called}" is no name of a model: give it one with --name`);
      const out = path.join(paths.models, called);
      if (existsSync(out)) throw new UsageError(`another base model is called ${called} here: give it another name with --name`);
      const made = followTrainer(config, "imprint_trainer", ["models", "add", place, "--out", out]);
      await waitingFor(`making ${called} of it`, made, printer.note);
      printer.result({ name: called, location: out }, () => trainingHint(called, context.io.name));
    });

const removeCommand = (context: CommandContext): Command =>
  newCommand({
    name: "rm",
    description: "remove a base model; what was trained on it can be used again once it is back",
    examples: ["models rm qwen2.5-coder-0.5b-instruct"],
  })
    .argument("<name>", "a base model that is here")
    .action(async (name: string, options: CommonOptions) => {
      const printer = printerOf(context, options);
      await withService({ io: context.io, options, note: printer.note }, ({ client }) => client.models.delete(name));
      printer.result({ name }, () => `${name} is removed.`);
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
