import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished, vi } from "vitest";
import { systemIo } from "../../src/io.js";
import { git } from "../../src/tasks/git.js";
import { findSandbox } from "../../src/tasks/sandbox/find.js";
import type { SandboxLimits } from "../../src/tasks/sandbox.js";
import type { LoadedTask } from "../../src/tasks/task-file.js";

/** An empty folder, below `at`, for one test. */
export async function emptyFolder(at = tmpdir()): Promise<string> {
  const folder = await realpath(await mkdtemp(path.join(at, "imprint-tasks-test-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
}

/** Commits all that is in a folder, which becomes a repository where it is none; answers with the commit. */
export async function commit(folder: string, files: Readonly<Record<string, string>>): Promise<string> {
  await writeFiles(folder, files);
  await git(folder, ["init", "--quiet"]);
  await git(folder, ["add", "--all"]);
  await git(folder, ["-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "--quiet", "--message=files"]);
  return (await git(folder, ["rev-parse", "HEAD"])).trim();
}

/** A task in `tasks/` of a folder. */
export const taskOn = (folder: string, task: Partial<LoadedTask["task"]> = {}): LoadedTask => ({
  task: { name: "one", repository: "..", prompt: "Do it", check: "true", ...task },
  file: path.join(folder, "tasks", "one.yaml"),
});

/** Where Go's and Rust's toolchains keep what they fetched, until the test ends: below a folder, by default one that is not there. */
export function toolchainsIn(folder = "/nowhere"): void {
  for (const variable of ["GOMODCACHE", "CARGO_HOME", "RUSTUP_HOME"]) vi.stubEnv(variable, path.join(folder, variable));
  onTestFinished(() => void vi.unstubAllEnvs());
}

export const LIMITS: SandboxLimits = { seconds: 30, memoryMb: 512, processes: 64, fileMb: 64 };

const found = await findSandbox({ io: systemIo(), noSandbox: false }).catch(() => null);
/** Bubblewrap, in a list of one, where it works: machines without it have no such tests. */
export const BUBBLEWRAP = found?.name === "bubblewrap" ? [found] : [];
