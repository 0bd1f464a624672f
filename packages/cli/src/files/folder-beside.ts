import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { AIDER_HISTORY, workspaceFolder } from "./agent-folders.js";

const textOf = (file: string): Promise<string> => readFile(file, "utf8").catch(() => "");

/** The object in a JSON file; an empty one where there is none. */
async function objectIn(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return Object(JSON.parse(await textOf(file)));
  } catch {
    return {};
  }
}

/** What Gemini CLI called a folder at first. */
export const hashOf = (folder: string): string => createHash("sha256").update(folder).digest("hex");

const upwards = (folder: string): readonly string[] =>
  path.dirname(folder) === folder ? [folder] : [folder, ...upwards(path.dirname(folder))];

/**
 * The folder that Gemini CLI keeps things of in `<home>/tmp/<name>`: a file there says it, or the tool's list of projects; of a name
 * that is a hash it is one of those that the tool knows, or that this process is in.
 */
async function geminiFolder(kept: string): Promise<string | null> {
  const told = (await textOf(path.join(kept, ".project_root"))).trim();
  if (told !== "") return told;
  const [home, name] = [path.dirname(path.dirname(kept)), path.basename(kept)];
  const { projects = {} } = await objectIn(path.join(home, "projects.json"));
  const named = Object.entries(Object(projects)).find(([, called]) => called === name);
  if (named !== undefined) return named[0];
  const trusted = Object.keys(await objectIn(path.join(home, "trustedFolders.json")));
  return (
    [...upwards(process.cwd()), ...Object.keys(Object(projects)), ...trusted].find((folder) => hashOf(folder) === name) ?? null
  );
}

/** The folder that a recording was made in where its place says it: its text does not, and so for Gemini's, aider's and VS Code's. */
export async function folderBeside(file: string): Promise<string | null> {
  const [folder, above] = [path.dirname(file), path.dirname(path.dirname(file))];
  if (path.basename(file) === AIDER_HISTORY) return path.resolve(folder);
  if (path.basename(folder) === "chatSessions") return workspaceFolder(above);
  return path.basename(folder) === "chats" ? geminiFolder(path.resolve(above)) : null;
}
