import { lstatSync, readdirSync, realpathSync, rmSync, statSync, symlinkSync } from "node:fs";
import { basename, isAbsolute, join, relative } from "node:path";
import { ImprintError } from "../common/error.js";

const PICKLES = /\.(?:bin|pt|pth|pkl|pickle|ckpt|msgpack|h5)$/;

export const isFolder = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch (error) {
    // Below a file there is nothing.
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return false;
    throw error;
  }
};

/** Whether `path` is `root` or in it, links followed. A path that is not there is judged as it is written. */
export const isWithin = (root: string, path: string): boolean => {
  const real = (folder: string): string => (isFolder(folder) ? realpathSync(folder) : folder);
  const way = relative(real(root), real(path));
  return !isAbsolute(way) && way.split(/[/\\]/)[0] !== "..";
};

/**
 * Looks for what a base model's folder must hold; the trainer reads the files themselves.
 * @throws ImprintError BASE_MODEL_NOT_FOUND, BASE_MODEL_INVALID or BASE_MODEL_UNSAFE that says `name`
 */
export const checkModelFolder = (folder: string, name = basename(folder)): void => {
  if (!isFolder(folder)) throw new ImprintError("BASE_MODEL_NOT_FOUND", `There is no folder ${name}.`);
  const files = readdirSync(folder);
  if (!files.includes("config.json"))
    throw new ImprintError("BASE_MODEL_INVALID", `The base model's folder ${name} holds no config.json.`);
  if (files.some((file) => file.endsWith(".safetensors"))) return;
  if (files.some((file) => PICKLES.test(file)))
    throw new ImprintError("BASE_MODEL_UNSAFE", `The base model's folder ${name} holds only pickled weights.`);
  throw new ImprintError("BASE_MODEL_INVALID", `The base model's folder ${name} holds no *.safetensors.`);
};

/** Links a base model's folder into `<data dir>/models`, so that what is trained on it can be used by the name. False: the name is another's. */
export const linkModel = (folder: string, models: string): boolean => {
  const link = join(models, basename(folder));
  const target = realpathSync(folder);
  if (isFolder(link)) return realpathSync(link) === target;
  // A link whose folder is gone.
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(link);
  symlinkSync(target, link, "junction");
  return true;
};
