#!/usr/bin/env node
// Prints every recorded session under the given folders as canonical JSON, one a line; what is no session is passed over.
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { groupFiles, importSessions } from "../packages/sessions/dist/index.js";

async function sessionsOf(root, paths) {
  const files = paths.map((path) => ({ name: relative(root, path), bytes: () => createReadStream(path) }));
  try {
    return (await importSessions(files)).sessions;
  } catch (error) {
    if (error?.code !== "SESSION_UNREADABLE") throw error;
    return [];
  }
}

for (const root of process.argv.slice(2)) {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const group of groupFiles(paths.sort()))
    for (const session of await sessionsOf(root, group.paths)) process.stdout.write(`${JSON.stringify(session)}\n`);
}
