import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { Task } from "@imprint/contracts";
import { matches } from "@imprint/contracts/fields";
import { parse } from "yaml";
import { UsageError } from "../errors.js";
import { copyFolder } from "./folders.js";
import { git } from "./git.js";
import type { LoadedTask } from "./task-file.js";

/** Whether it is git's to find, not a folder: `https://host/x.git`, `git@host:x.git`. */
export const isUrl = (repository: string): boolean => /^[a-z][a-z0-9+.-]*:\/\/|^[^/]+@[^/]+:/i.test(repository);

/** A task's repository: the URL, or the folder's full path. */
const repositoryOf = ({ task, file }: LoadedTask): string =>
  isUrl(task.repository) ? task.repository : path.resolve(path.dirname(file), task.repository);

/** Whether git keeps a folder: it is the top of a working tree, or a bare repository. */
export async function isGit(folder: string): Promise<boolean> {
  const there = (name: string): Promise<boolean> => stat(path.join(folder, name)).then(Boolean, () => false);
  return (await there(".git")) || ((await there("HEAD")) && (await there("objects")));
}

/** Removes task files: an agent would find the solution in them. */
async function removeTasks(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (!entry.isFile() || !entry.name.endsWith(".yaml")) continue;
    const file = path.join(folder, entry.name);
    const isTask = await readFile(file, "utf8").then(
      (text) => matches(Task, parse(text)),
      () => false,
    );
    if (isTask) await rm(file);
  }
}

/** Folders of installed packages at the top of a repository: no commit holds them, and its programs need them. */
const INSTALLED = ["node_modules", ".venv", "venv"];

/** What is installed in a task's repository, by full paths: folders that git leaves out. A sandbox in which its programs run must show them. */
export async function installedIn(loaded: LoadedTask): Promise<readonly string[]> {
  const repository = repositoryOf(loaded);
  if (isUrl(repository) || !(await isGit(repository))) return [];
  const left = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", "--", ...INSTALLED];
  const folders = (await git(repository, left).catch(() => "")).split("\0"); // a bare repository has no files
  return INSTALLED.filter((name) => folders.includes(`${name}/`)).map((name) => path.join(repository, name));
}

/** Links what is installed into a workspace, where git does not see it. */
async function link(installed: readonly string[], folder: string): Promise<void> {
  for (const place of installed)
    await symlink(place, path.join(folder, path.basename(place))).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error; // that commit held one itself
    });
  await mkdir(path.join(folder, ".git/info"));
  await writeFile(path.join(folder, ".git/info/exclude"), installed.map((place) => `/${path.basename(place)}\n`).join(""));
}

const NOBODY = ["-c", "user.name=imprint", "-c", "user.email=imprint@localhost", "-c", "commit.gpgsign=false"];

/**
 * Puts the task's state of its repository into an empty folder, as a git repository of one commit: no later commit and no task file is in it. What is
 * installed in the repository is linked to.
 * Throws a UsageError where the task names no such repository, a CommandError with git's words.
 */
export async function makeWorkspace(loaded: LoadedTask, folder: string): Promise<void> {
  const { task, file } = loaded;
  const repository = repositoryOf(loaded);
  await mkdir(folder, { recursive: true });
  const cloned = isUrl(repository) || (await isGit(repository));
  if (cloned) {
    // Shared, because what is found by the log of references alone would not be cloned; its objects are not kept.
    await git(folder, ["clone", "--quiet", "--shared", "--no-checkout", "--", repository, folder]);
    await git(folder, ["checkout", "--quiet", "--detach", task.commit ?? "HEAD", "--"]);
    await rm(path.join(folder, ".git"), { recursive: true });
  } else {
    const there = await stat(repository).catch(() => null);
    if (!there?.isDirectory()) throw new UsageError(`${file}: repository ${repository} is no folder and no URL of git`);
    if (task.commit !== undefined) throw new UsageError(`${file}: commit is for git repositories, and ${repository} is none`);
    await copyFolder(repository, folder);
  }
  const beside = path.relative(repository, path.dirname(file));
  for (const at of new Set(["tasks", ...(beside.startsWith("..") ? [] : [beside])])) await removeTasks(path.join(folder, at));
  await git(folder, ["-c", "init.defaultBranch=main", "init", "--quiet", "--template="]);
  await git(folder, ["add", "--all", ...(cloned ? ["--force"] : [])]);
  await git(folder, [...NOBODY, "commit", "--quiet", "--allow-empty", "--no-verify", "--message=The state of the task"]);
  await link(await installedIn(loaded), folder);
}
