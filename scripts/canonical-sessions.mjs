#!/usr/bin/env node
// Prints every recorded session under the given folders as canonical JSON, one a line; what is no session is passed over.
import { groupFiles, importSessions } from "../packages/sessions/dist/index.js";
import { filesBelow, sourceFile } from "./lib/session-files.mjs";

async function sessionsOf(root, paths) {
  try {
    return (await importSessions(paths.map((path) => sourceFile(root, path)))).sessions;
  } catch (error) {
    if (error?.code !== "SESSION_UNREADABLE") throw error;
    return [];
  }
}

for (const root of process.argv.slice(2)) {
  for (const group of groupFiles((await filesBelow(root)).sort()))
    for (const session of await sessionsOf(root, group.paths)) process.stdout.write(`${JSON.stringify(session)}\n`);
}
