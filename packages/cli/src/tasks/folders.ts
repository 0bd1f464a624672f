import { execFile } from "node:child_process";
import { cp, lstat, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Removes a folder in which a command may have made anything: folders that may not be entered, or deeper than a path can be long. */
export async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(async () => {
    await run("chmod", ["-R", "u+rwX", "--", folder]).catch(() => undefined);
    await run("rm", ["-rf", "--", folder]);
  });
}

/** Runs `act` in an empty folder that is removed afterwards. */
export async function inTemporary<T>(act: (folder: string) => Promise<T>): Promise<T> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "imprint-task-")));
  try {
    return await act(folder);
  } finally {
    await remove(folder);
  }
}

/** Copies a folder's files, folders and links. A link stays a link: nothing that it leads to is read. Other kinds are left out. */
export const copyFolder = (from: string, to: string): Promise<void> =>
  cp(from, to, {
    recursive: true,
    verbatimSymlinks: true,
    filter: async (source) => {
      const entry = await lstat(source);
      return entry.isFile() || entry.isDirectory() || entry.isSymbolicLink();
    },
  });
