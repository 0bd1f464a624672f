import { lstatSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import type { BaseModelEntry } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import { findRepoRoot } from "../config/setup.js";
import {
  type BaseModels,
  contextLength,
  downloaded,
  fallbackName,
  hubFolder,
  isFolder,
  isModelName,
  isWhole,
  knownFolder,
  preparedModels,
} from "./base-model.js";

/** What the catalogue says of a model that is not here. The trainer's is the whole of it: `bases/catalogue.py`. */
interface Known {
  readonly licence: string;
  readonly context: number;
  readonly tools: boolean;
  readonly sources: readonly (
    | { readonly kind: "hub"; readonly id: string }
    | { readonly kind: "packages"; readonly bytes: number }
  )[];
}

const CATALOGUE = ["trainer", "src", "imprint_trainer", "bases", "catalogue.json"];

const readCatalogue = (repoRoot: string): Readonly<Record<string, Known>> =>
  JSON.parse(readFileSync(join(repoRoot, ...CATALOGUE), "utf8"));

/** Text of a file that may not be there; of a large one its beginning. */
const textOf = (file: string): string => {
  try {
    return readFileSync(file, "utf8").slice(0, 1 << 20);
  } catch {
    return "";
  }
};

const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false }))
    .reduce((sum, file) => sum + (file?.isFile() ? file.size : 0), 0);

const templateOf = (folder: string): BaseModelEntry["template"] => {
  const inConfig = /"chat_template":\s*("(?:[^"\\]|\\.)*"|\[.*\])/s.exec(textOf(join(folder, "tokenizer_config.json")))?.[1];
  const template = textOf(join(folder, "chat_template.jinja")) || inConfig || "";
  if (template === "") return null;
  return /\btools\b/.test(template) ? "tools" : "plain";
};

interface ModelConfig {
  readonly type: string | null;
  readonly weights: string | null;
}

const UNKNOWN: ModelConfig = { type: null, weights: null };

const configOf = (folder: string): ModelConfig => {
  try {
    const {
      model_type,
      quantization_config: quantised,
      dtype,
      torch_dtype,
      text_config,
    } = JSON.parse(textOf(join(folder, "config.json")));
    const weights: unknown = quantised?.quant_method ?? dtype ?? torch_dtype ?? text_config?.dtype ?? text_config?.torch_dtype;
    const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
    return { type: text(model_type), weights: text(weights) };
  } catch {
    return UNKNOWN;
  }
};

const LICENCE = /^---\n(?:[^\n]*\n)*?license: *["']?([A-Za-z0-9._-]{1,64})/;

const placeOf = (name: string, { setup, folder, fallback }: BaseModels): BaseModelEntry["from"] => {
  if (isAbsolute(fallback) && basename(fallback) === name) return "folder";
  if (setup && Object.hasOwn(setup.models, name)) return "setup";
  if (name.includes("/")) return "hub cache";
  return lstatSync(join(folder, name)).isSymbolicLink() ? "folder" : "data directory";
};

/** Hub ids of the language models that the hub's library keeps as a whole, or that other programs put there. */
const hubModels = (models: BaseModels): readonly string[] =>
  (isFolder(models.hubCache) ? readdirSync(models.hubCache) : [])
    .filter((name) => name.startsWith("models--"))
    .map((name) => name.slice("models--".length).replace("--", "/"))
    .filter((id) => {
      const folder = downloaded(id, models);
      return folder !== null && isWhole(folder) && /ForCausalLM/.test(textOf(join(folder, "config.json")));
    });

type Engine = BaseModelEntry["engine"];

/** The base models that are here, then those that the catalogue knows besides. `engineOf`: who chats with a type of models. */
export const listBaseModels = (
  models: BaseModels,
  engineOf: (type: string | null) => Engine,
  repoRoot = findRepoRoot(),
): readonly Omit<BaseModelEntry, "training">[] => {
  const byDefault = fallbackName(models);
  const shown = (name: string, folder: string, { type, weights } = configOf(folder)) => ({
    name,
    is_default: name === byDefault,
    here: true as const,
    from: placeOf(name, models),
    size: sizeOf(folder),
    licence: LICENCE.exec(textOf(join(folder, "README.md")))?.[1] ?? null,
    context_length: contextLength(name, models),
    template: templateOf(folder),
    weights,
    engine: engineOf(type),
  });
  const named = [...new Set([byDefault, ...preparedModels(models)])].flatMap((name) => {
    const folder = knownFolder(name, models);
    return folder === null || name.includes("/") ? [] : [{ name, folder }];
  });
  const linked = new Set(named.map(({ folder }) => realpathSync(folder)));
  const hub = hubModels(models)
    .map((name) => ({ name, folder: downloaded(name, models) ?? "" }))
    .filter(({ folder }) => !linked.has(realpathSync(folder)));
  const here = [...named, ...hub].map(({ name, folder }) => shown(name, folder));
  const names = new Set(here.map(({ name }) => name));
  const known = Object.entries(readCatalogue(repoRoot)).filter(([name]) => !names.has(name));
  return [
    ...here,
    ...known.map(([name, { licence, context, tools, sources }]) => {
      const packages = sources.find((source) => source.kind === "packages");
      const size = packages?.bytes ?? null;
      const template = tools ? ("tools" as const) : ("plain" as const);
      const facts = { size, licence, context_length: context, template, weights: null, engine: null };
      return { name, is_default: name === byDefault, here: false, from: "catalogue" as const, ...facts };
    }),
  ];
};

/** @throws ImprintError BASE_MODEL_NOT_FOUND for a name that nobody could fetch */
export const requireKnown = (name: string, models: BaseModels, repoRoot = findRepoRoot()): void => {
  const known = readCatalogue(repoRoot);
  if (name.includes("/") || Object.hasOwn(known, name) || knownFolder(name, models) !== null) return;
  const names = Object.keys(known).join(", ");
  throw new ImprintError(
    "BASE_MODEL_NOT_FOUND",
    `The catalogue has no ${name}, only ${names}; a model of the hub goes by owner/name.`,
  );
};

/**
 * Removes a base model from the data directory or the hub's cache, and what a pull of it left. A linked folder stays where it is.
 * @throws ImprintError BASE_MODEL_NOT_FOUND, BASE_MODEL_IN_USE
 */
export const removeBaseModel = (name: string, models: BaseModels): void => {
  if (name === fallbackName(models)) throw new ImprintError("BASE_MODEL_IN_USE", `Requests that name no base model get ${name}.`);
  if (models.setup && Object.hasOwn(models.setup.models, name))
    throw new ImprintError("BASE_MODEL_IN_USE", `${name} belongs to the set-up.`);
  const places = name.includes("/")
    ? [join(models.hubCache, hubFolder(name))]
    : [name, `.pull-${name}`, `.making-${name}`].map((one) => join(models.folder, one));
  const there = isModelName(name) ? places.filter((place) => lstatSync(place, { throwIfNoEntry: false })) : [];
  if (there.length === 0) throw new ImprintError("BASE_MODEL_NOT_FOUND", `There is no base model ${name} to remove.`);
  for (const place of there) rmSync(place, { recursive: true, force: true });
};
