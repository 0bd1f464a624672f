import { lstatSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { basename, isAbsolute, join, relative } from "node:path";
import { BaseModelName } from "@imprint/contracts";
import { matches } from "@imprint/contracts/fields";
import { codeOf, ImprintError } from "../common/error.js";
import type { Config } from "../config/load.js";
import { isPath, toPath } from "../config/paths.js";
import type { Setup } from "../config/setup.js";
import { dataPaths } from "../storage/paths.js";

export interface BaseModels {
  /** The base model where a request names none: a name, a hub id, or a folder of this machine. */
  readonly fallback: string;
  readonly setup: Setup | null;
  /** `<data dir>/models` */
  readonly folder: string;
  /** Where requests may name folders, besides the models that are known. */
  readonly roots: readonly string[];
  readonly allowDownloads: boolean;
  /** Where the hub's library keeps what it downloaded. */
  readonly hubCache: string;
}

/** A base model as the trainer loads it, and as adapters name it. */
export interface BaseModel {
  readonly location: string;
  readonly name: string;
}

const PICKLES = /\.(?:bin|pt|pth|pkl|pickle|ckpt|msgpack|h5)$/;

export const isFolder = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch (error) {
    // Below a file there is nothing.
    if (codeOf(error) === "ENOTDIR") return false;
    throw error;
  }
};

/** Whether `path` is `root` or in it, links followed. A path that is not there is judged as it is written. */
const isWithin = (root: string, path: string): boolean => {
  const real = (folder: string): string => (isFolder(folder) ? realpathSync(folder) : folder);
  const way = relative(real(root), real(path));
  return !isAbsolute(way) && way.split(/[/\\]/)[0] !== "..";
};

/** Whether the weights that a folder's index names are there: a pull that was cut leaves some. */
export const isWhole = (folder: string): boolean => {
  const files = readdirSync(folder);
  if (!files.includes("model.safetensors.index.json")) return files.some((name) => name.endsWith(".safetensors"));
  try {
    const { weight_map } = JSON.parse(readFileSync(join(folder, "model.safetensors.index.json"), "utf8"));
    return Object.values(weight_map).every((name) => files.includes(String(name)));
  } catch {
    return false;
  }
};

/**
 * Looks for what a base model's folder must hold; the trainer reads the files themselves.
 * @throws ImprintError BASE_MODEL_NOT_FOUND, BASE_MODEL_INVALID or BASE_MODEL_UNSAFE that says `name`
 */
const checkModelFolder = (folder: string, name = basename(folder)): void => {
  if (!isFolder(folder)) throw new ImprintError("BASE_MODEL_NOT_FOUND", `There is no folder ${name}.`);
  const files = readdirSync(folder);
  if (!files.includes("config.json"))
    throw new ImprintError("BASE_MODEL_INVALID", `The base model's folder ${name} holds no config.json.`);
  if (isWhole(folder)) return;
  if (files.some((file) => file.endsWith(".safetensors")))
    throw new ImprintError("BASE_MODEL_INVALID", `The base model's folder ${name} lacks some of its weights: pull it again.`);
  if (files.some((file) => PICKLES.test(file)))
    throw new ImprintError("BASE_MODEL_UNSAFE", `The base model's folder ${name} holds only pickled weights.`);
  throw new ImprintError("BASE_MODEL_INVALID", `The base model's folder ${name} holds no *.safetensors.`);
};

/** Links a base model's folder into `<data dir>/models`, so that what is trained on it can be used by the name. False: the name is another's. */
export const linkModel = (folder: string, models: string, name = basename(folder)): boolean => {
  const link = join(models, name);
  const target = realpathSync(folder);
  if (isFolder(link)) return realpathSync(link) === target;
  // A link whose folder is gone.
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(link);
  symlinkSync(target, link, "junction");
  return true;
};

/** As huggingface_hub finds it. */
const hubCacheOf = ({ HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME }: NodeJS.ProcessEnv): string =>
  HF_HUB_CACHE || join(HF_HOME || join(XDG_CACHE_HOME || join(homedir(), ".cache"), "huggingface"), "hub");

export const baseModelsOf = ({ settings, setup }: Config, env: NodeJS.ProcessEnv = process.env): BaseModels => ({
  fallback: settings.base_model,
  setup,
  folder: dataPaths(settings.data_dir).models,
  roots: settings.model_roots,
  allowDownloads: settings.allow_downloads,
  hubCache: hubCacheOf(env),
});

/** How a prepared base model may be called in a request. */
export const isModelName = (text: string): boolean => matches(BaseModelName, text);

/** The name that a request without `base_model` trains for. A folder goes by its last part: paths stay on this machine. */
export const fallbackName = ({ fallback }: BaseModels): string => (isModelName(fallback) ? fallback : basename(fallback));

/** The folder of a model that is known by its name; null when none is. */
export const knownFolder = (name: string, { fallback, setup, folder }: BaseModels): string | null => {
  if (isAbsolute(fallback) && basename(fallback) === name && isFolder(fallback)) return fallback;
  const prepared = setup && Object.hasOwn(setup.models, name) ? setup.models[name] : undefined;
  if (prepared !== undefined && isFolder(prepared)) return prepared;
  const own = join(folder, name);
  return isModelName(name) && !name.includes("/") && isFolder(own) ? own : null;
};

/** Of a hub model in the cache, as huggingface_hub names it. */
export const hubFolder = (hubId: string): string => `models--${hubId.replace("/", "--")}`;

/** The folder of a hub model that was downloaded before; null when it was not. */
export const downloaded = (hubId: string, { hubCache }: BaseModels): string | null => {
  const folder = join(hubCache, hubFolder(hubId));
  try {
    const snapshot = join(folder, "snapshots", readFileSync(join(folder, "refs", "main"), "utf8").trim());
    return isFolder(snapshot) ? snapshot : null;
  } catch {
    return null;
  }
};

/**
 * Finds a base model by its name or hub id.
 * @throws ImprintError BASE_MODEL_NOT_FOUND
 */
export const locateBaseModel = (name: string, models: BaseModels): BaseModel => {
  const folder = knownFolder(name, models);
  if (folder !== null) return { location: folder, name };
  if (!isModelName(name))
    throw new ImprintError("BASE_MODEL_NOT_FOUND", `${JSON.stringify(name)} is not the name of a base model.`);
  if (!name.includes("/")) {
    const meant = [fallbackName(models), ...preparedModels(models)].find((one) =>
      one.toLowerCase().startsWith(name.toLowerCase()),
    );
    const hint = meant === undefined ? "" : ` Is ${meant} meant?`;
    throw new ImprintError("BASE_MODEL_NOT_FOUND", `The base model ${name} is not prepared here.${hint}`);
  }
  if (models.allowDownloads || downloaded(name, models) !== null) return { location: name, name };
  throw new ImprintError("BASE_MODEL_NOT_FOUND", `The base model ${name} is not on this machine, and downloads are not allowed.`);
};

/** What the model is called whose files `locateBaseModel` found there. */
export const nameAt = (location: string, { setup }: Pick<BaseModels, "setup">): string => {
  const prepared = Object.entries(setup?.models ?? {}).find(([, folder]) => folder === location);
  return prepared?.[0] ?? (isAbsolute(location) ? basename(location) : location);
};

/** A folder's model by its name, known from now on. Requests may name folders in the roots only. */
const adoptFolder = (folder: string, models: BaseModels): BaseModel => {
  const { fallback, setup, roots } = models;
  const name = basename(folder);
  const known = [models.folder, ...(isAbsolute(fallback) ? [fallback] : []), ...Object.values(setup?.models ?? {})];
  if (![...known, ...roots].some((root) => isWithin(root, folder)))
    throw new ImprintError(
      "BASE_MODEL_NOT_FOUND",
      `The service takes no base model from the folder of ${name}: name one of its parents in model_roots, or train from the command line.`,
    );
  checkModelFolder(folder);
  if (!isModelName(name))
    throw new ImprintError(
      "BASE_MODEL_INVALID",
      `A base model goes by its folder's name, and ${JSON.stringify(name)} is none: letters, digits, dots, dashes and underscores.`,
    );
  const there = knownFolder(name, models);
  if ((there !== null && !(isWithin(there, folder) && isWithin(folder, there))) || !linkModel(folder, models.folder))
    throw new ImprintError("BASE_MODEL_INVALID", `Another base model is called ${name} here: rename the folder.`);
  return { location: there ?? join(models.folder, name), name };
};

/**
 * The base model that a request asks for by a name, a hub id or a folder, or the default; its files are there, as far as can be seen
 * without loading them.
 * @throws ImprintError BASE_MODEL_NOT_FOUND, BASE_MODEL_INVALID or BASE_MODEL_UNSAFE
 */
export const requestedBaseModel = (given: string | undefined, models: BaseModels): BaseModel => {
  if (given !== undefined && isPath(given)) return adoptFolder(toPath(given), models);
  if (given === undefined && isAbsolute(models.fallback)) checkModelFolder(models.fallback);
  const model = locateBaseModel(given ?? fallbackName(models), models);
  const files = isAbsolute(model.location) ? model.location : downloaded(model.location, models);
  if (files !== null) checkModelFolder(files, model.name);
  return model;
};

/** Tokens that a base model reads at once, as its config.json says; null where there is none or it does not. */
export const contextLength = (name: string, models: BaseModels): number | null => {
  try {
    const folder = knownFolder(name, models) ?? downloaded(name, models);
    const config = folder === null ? {} : JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
    const length: unknown = config.max_position_embeddings ?? config.text_config?.max_position_embeddings;
    return Number.isInteger(length) ? (length as number) : null;
  } catch {
    return null;
  }
};

/** Names that requests can use without a download. */
export const preparedModels = ({ setup, folder }: BaseModels): readonly string[] => [
  ...Object.keys(setup?.models ?? {}),
  ...(isFolder(folder) ? readdirSync(folder).filter((name) => isModelName(name) && isFolder(join(folder, name))) : []),
];

/** Folders whose sub-folders are hypernetworks: one's own before those that Imprint ships. */
export const hypernetworkFolders = ({ settings, repoRoot }: Config): readonly [string, string] => [
  dataPaths(settings.data_dir).hypernetworks,
  join(repoRoot, "models"),
];
