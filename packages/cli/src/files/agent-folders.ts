import { readdir, readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { factsOf } from "@imprint/sessions";
import { isOpencodeDatabase } from "./opencode-database.js";

const EDITORS = ["Code", "Code - Insiders", "VSCodium", "Cursor"];
/** Cline and its forks. */
const EXTENSIONS = ["saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code"];
export const AIDER_HISTORY = ".aider.chat.history.md";

export const isThere = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => []);

/** Where editors of the family of VS Code keep what is a user's. */
function userFolder(editor: string, env: NodeJS.ProcessEnv): string {
  const home = homedir();
  const settings =
    process.platform === "darwin"
      ? path.join(home, "Library", "Application Support")
      : process.platform === "win32"
        ? (env.APPDATA ?? path.join(home, "AppData", "Roaming"))
        : env.XDG_CONFIG_HOME || path.join(home, ".config");
  return path.join(settings, editor, "User");
}

/** The folder that a workspace of such an editor is of; its chats do not name it. */
export async function workspaceFolder(storage: string): Promise<string | null> {
  const text = await readFile(path.join(storage, "workspace.json"), "utf8").catch(() => "{}");
  try {
    return factsOf({ folder: JSON.parse(text)?.folder }).folder;
  } catch {
    return null;
  }
}

async function editorFolders(env: NodeJS.ProcessEnv, isWanted: (folder: string) => Promise<boolean>): Promise<readonly string[]> {
  const found: string[] = [];
  for (const editor of EDITORS) {
    const user = userFolder(editor, env);
    found.push(...EXTENSIONS.map((name) => path.join(user, "globalStorage", name, "tasks")));
    if (editor === "Cursor") found.push(path.join(user, "globalStorage", "state.vscdb"));
    for (const name of await namesIn(path.join(user, "workspaceStorage"))) {
      const storage = path.join(user, "workspaceStorage", name);
      const folder = await workspaceFolder(storage);
      if (folder !== null && (await isWanted(folder))) found.push(path.join(storage, "chatSessions"));
    }
  }
  return found;
}

/**
 * Where the agents that are known keep their recordings on this machine: what is there of it. Chats of editors lie by workspace:
 * those of wanted folders.
 */
export async function agentFolders(
  env: NodeJS.ProcessEnv,
  isWanted: (folder: string) => Promise<boolean>,
): Promise<readonly string[]> {
  const home = (...parts: string[]): string => path.join(homedir(), ...parts);
  const claude = env.CLAUDE_CONFIG_DIR || home(".claude");
  const codex = env.CODEX_HOME || home(".codex");
  const data = env.XDG_DATA_HOME || home(".local", "share");
  const opencode = path.join(data, "opencode");
  const databases = (await namesIn(opencode)).filter(isOpencodeDatabase);
  const folders = [
    path.join(claude, "projects"),
    ...["sessions", "archived_sessions"].map((name) => path.join(codex, name)),
    ...[...databases, "storage"].map((name) => path.join(opencode, name)),
    ...[home(".gemini", "tmp"), home(".qwen", "projects"), home(".qwen", "tmp"), home(".copilot", "session-state")],
    ...[home(".continue", "sessions"), home(".cline", "data"), home(".pi", "agent", "sessions")],
    path.join(data, "goose", "sessions", "sessions.db"),
    ...(await editorFolders(env, isWanted)),
  ];
  const there = await Promise.all(folders.map(isThere));
  return folders.filter((_, at) => there[at]);
}
