import { groupFiles, importSessions } from "../../packages/sessions/dist/index.js";
import { filesBelow, sourceFile } from "./session-check.mjs";

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
