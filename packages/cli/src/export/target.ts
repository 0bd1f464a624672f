import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { diskRefusal, makeFolder, whyNotWritten } from "@imprint/server/configuration";
import { CommandError, UsageError } from "../errors.js";

/** Where an export's files go: a GGUF file is one file, everything else a folder. */
export interface Target {
  readonly folder: string;
  /** The name that a file of the export gets. */
  readonly nameOf: (file: string) => string;
  /** What the user looks for. */
  readonly path: string;
}

/** Makes the folder that files go into. @throws CommandError where it cannot be made */
export function makeTarget(folder: string): void {
  try {
    makeFolder(folder, 0o777);
  } catch (error) {
    throw new CommandError(`${folder} cannot be made: ${whyNotWritten(error)}. Choose another folder.`);
  }
}

/** What kept a file from being written: a sentence where the disk did, else the error as it is. */
export const notWritten = (file: string, error: unknown): unknown => {
  const refusal = diskRefusal(error);
  return refusal === undefined ? error : new CommandError(`${file} cannot be written: ${refusal}. Choose another place.`);
};

const isFolder = (place: string): boolean => statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** @throws UsageError when something stands there that only --force may replace */
export function targetOf({ out, file, force }: { out: string; file: string | null; force: boolean }): Target {
  const given = path.resolve(out);
  if (file === null) {
    if (existsSync(given) && !isFolder(given)) throw new UsageError(`--out ${out} is a file: this format is a folder`);
    if (!force && existsSync(given) && readdirSync(given).length > 0)
      throw new UsageError(`--out ${out} is not empty: choose another folder, or overwrite with --force`);
    return { folder: given, nameOf: (name) => name, path: given };
  }
  const target = isFolder(given) ? path.join(given, file) : given;
  if (isFolder(target)) throw new UsageError(`--out ${target} is a folder: this format is a file`);
  if (!force && existsSync(target))
    throw new UsageError(`--out ${target} exists: choose another name, or overwrite with --force`);
  return { folder: path.dirname(target), nameOf: () => path.basename(target), path: target };
}
