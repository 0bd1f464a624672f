import { execFile } from "node:child_process";
import { cp, rm, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { LoadedTask } from "./task-file.js";

const run = promisify(execFile);

const AUTHOR = ["-c", "user.name=Imprint", "-c", "user.email=imprint@localhost"];

/** Puts the state of the repository that a task names into an empty folder, as one commit. */
export async function makeWorkspace({ task, file }: LoadedTask, folder: string): Promise<void> {
  const { repository, commit } = task;
  const isUrl = /^[\w+.-]+:\/\/|^git@/.test(repository);
  const from = isUrl ? repository : path.resolve(path.dirname(file), repository);
  const isGit = isUrl || (await stat(path.join(from, ".git")).then(Boolean, () => false));
  if (isGit) {
    await run("git", ["clone", "--quiet", "--no-hardlinks", from, folder]);
    await run("git", ["checkout", "--quiet", commit ?? "HEAD"], { cwd: folder });
    await rm(path.join(folder, ".git"), { recursive: true });
  } else await cp(from, folder, { recursive: true });
  await run("git", ["init", "--quiet"], { cwd: folder });
  await run("git", ["add", "--all", "--force"], { cwd: folder });
  await run("git", [...AUTHOR, "commit", "--quiet", "--message", "As it was"], { cwd: folder });
}
