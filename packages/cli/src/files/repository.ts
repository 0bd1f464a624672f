import { readdir, readFile, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { factsOf } from "@imprint/sessions";
import { UsageError } from "../errors.js";

/** A repository on this machine. */
export interface Repository {
  /** Of its remote where it has one, else of its folder. */
  readonly name: string;
  /** Its top level; of several worktrees that of the first. */
  readonly root: string;
  /** Whether something was recorded in it that was recorded in this folder. */
  holds(folder: string): Promise<boolean>;
}

const within = (root: string, folder: string): boolean => folder === root || folder.startsWith(root + path.sep);

const textOf = (file: string): Promise<string> => readFile(file, "utf8").catch(() => "");

/** The folder, or the nearest above it, that git keeps; null where there is none. */
async function topOf(folder: string): Promise<string | null> {
  for (let at = folder; ; at = path.dirname(at)) {
    if (await stat(path.join(at, ".git")).catch(() => null)) return at;
    if (at === path.dirname(at)) return null;
  }
}

/** Where git keeps what all worktrees of a repository share. */
async function sharedFolder(top: string): Promise<string> {
  const git = path.join(top, ".git");
  if ((await stat(git)).isDirectory()) return git;
  const [, told = "."] = /^gitdir: (.+)$/m.exec(await textOf(git)) ?? [];
  const own = path.resolve(top, told.trim());
  return path.resolve(own, (await textOf(path.join(own, "commondir"))).trim());
}

/** The top levels of a repository's worktrees, the first one first. */
async function worktreesOf(top: string, shared: string): Promise<readonly string[]> {
  const names = await readdir(path.join(shared, "worktrees")).catch(() => []);
  const files = await Promise.all(names.map((name) => textOf(path.join(shared, "worktrees", name, "gitdir"))));
  const others = files.filter((file) => file !== "").map((file) => path.dirname(file.trim()));
  return [...new Set([path.basename(shared) === ".git" ? path.dirname(shared) : top, top, ...others])];
}

/** The address of `origin`, else of the first remote. */
function remoteIn(config: string): string | undefined {
  const remotes = [...config.matchAll(/^\[remote "([^"]+)"\][^[]*?^\s*url\s*=\s*(.+)$/gm)];
  return (remotes.find(([, name]) => name === "origin") ?? remotes[0])?.[2];
}

/** The repository that a folder of this machine is in, or the folder alone where git keeps none. Throws a UsageError where there is no such folder. */
export async function repositoryAt(given: string): Promise<Repository> {
  const folder = await realpath(given).catch(() => null);
  if (folder === null || !(await stat(folder)).isDirectory()) throw new UsageError(`${given}: there is no such folder`);
  const top = await topOf(folder);
  const shared = top && (await sharedFolder(top));
  const roots = top && shared ? await worktreesOf(top, shared) : [folder];
  const [root = folder] = roots;
  // As it was called, where a link leads there.
  const called = path.resolve(given, path.relative(folder, top ?? folder));
  const remote = shared ? remoteIn(await textOf(path.join(shared, "config"))) : undefined;
  return {
    name: factsOf({ remote, folder: root }).repository ?? "root",
    root,
    holds: async (recorded) => {
      const real = await realpath(recorded).catch(() => null);
      if (real === null) return [...roots, called].some((one) => within(one, recorded));
      // A repository within this one is another.
      const own = await topOf(real);
      return top === null ? own === null && within(folder, real) : own !== null && roots.includes(own);
    },
  };
}
