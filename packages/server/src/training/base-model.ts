import { existsSync, statSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import { ImprintError } from "../common/error.js";
import { isModelName } from "../config/schema.js";
import type { Setup } from "../config/setup.js";

export interface BaseModels {
  /** The base model where a request names none: a name, a hub id, or a folder of this machine. */
  readonly fallback: string;
  readonly setup: Setup | null;
  /** `<data dir>/models` */
  readonly folder: string;
  readonly allowDownloads: boolean;
}

/** A base model as the trainer loads it, and as adapters name it. */
export interface BaseModel {
  readonly location: string;
  readonly name: string;
}

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory();

/** The name that a request without `base_model` trains for. A folder goes by its last part: paths stay on this machine. */
export const fallbackName = ({ fallback }: BaseModels): string => (isModelName(fallback) ? fallback : basename(fallback));

/**
 * Finds the folder of a base model. Only the service's own configuration can name a path; requests name models.
 * @throws ImprintError BASE_MODEL_NOT_FOUND
 */
export const locateBaseModel = (name: string, { fallback, setup, folder, allowDownloads }: BaseModels): BaseModel => {
  if (isAbsolute(fallback) && basename(fallback) === name && isFolder(fallback)) return { location: fallback, name };
  const prepared = setup && Object.hasOwn(setup.models, name) ? setup.models[name] : undefined;
  if (prepared !== undefined && isFolder(prepared)) return { location: prepared, name };
  if (!isModelName(name))
    throw new ImprintError("BASE_MODEL_NOT_FOUND", `${JSON.stringify(name)} is not the name of a base model.`);
  if (!name.includes("/") && isFolder(join(folder, name))) return { location: join(folder, name), name };
  if (name.includes("/") && allowDownloads) return { location: name, name };
  throw new ImprintError(
    "BASE_MODEL_NOT_FOUND",
    name.includes("/")
      ? `The base model ${name} is not prepared here, and downloads are not allowed.`
      : `The base model ${name} is not prepared here.`,
  );
};

/** Names that requests can use without a download. */
export const preparedModels = (setup: Setup | null): readonly string[] => Object.keys(setup?.models ?? {});
