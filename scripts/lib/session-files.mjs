import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";

/** A file as the importers take it, named as it is seen from `root`. */
export const sourceFile = (root, path) => ({ name: relative(root, path), bytes: () => createReadStream(path) });

/** The paths of all files in and below a folder. */
export async function filesBelow(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}
