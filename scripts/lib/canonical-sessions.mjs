import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { groupFiles, importSessions } from "../../packages/sessions/dist/index.js";

/** A file as the importers take it, named as it is seen from `root`. */
export const sourceFile = (root, path) => ({ name: relative(root, path), bytes: () => createReadStream(path) });

/** The paths of all files in and below a folder. */
export async function filesBelow(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function sessionsOf(root, paths) {
  try {
    return (await importSessions(paths.map((path) => sourceFile(root, path)))).sessions;
  } catch (error) {
    if (error?.code !== "SESSION_UNREADABLE") throw error;
    return [];
  }
}

/** Every recorded session below a folder as a line of canonical JSON; what is no session is passed over. */
export async function* canonicalLines(root) {
  for (const group of groupFiles((await filesBelow(root)).sort()))
    for (const session of await sessionsOf(root, group.paths)) yield `${JSON.stringify(session)}\n`;
}
