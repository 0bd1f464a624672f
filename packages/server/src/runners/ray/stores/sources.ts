import { createHash } from "node:crypto";
import { lstat, readdir } from "node:fs/promises";
import { join, relative } from "node:path";

export const isSource = (path: string): boolean => !path.endsWith("__pycache__");

/** The files of a folder that are worth a copy, sorted. */
export const filesOf = async (folder: string): Promise<readonly string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && isSource(entry.parentPath))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
};

/** A folder's content, as far as it can be told without reading it. */
export const printOf = async (folder: string): Promise<string> => {
  const hash = createHash("sha256");
  for (const file of await filesOf(folder)) {
    const { size, mtimeMs } = await lstat(file);
    hash.update(`${relative(folder, file)}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest("hex").slice(0, 16);
};
