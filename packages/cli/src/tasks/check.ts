import { lstat, mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { UsageError } from "../errors.js";
import { copyFolder, inTemporary } from "./folders.js";
import { git } from "./git.js";
import type { Sandbox, SandboxEnd, SandboxLimits } from "./sandbox.js";
import { isInside, type LoadedTask } from "./task-file.js";
import { installedIn, makeWorkspace } from "./workspace.js";

/** Of a check: a test suite that takes longer says little about one task. */
const CHECK_LIMITS: SandboxLimits = { seconds: 300, memoryMb: 4096, processes: 256, fileMb: 1024 };

/** Writes files below a folder of which an agent may have made anything: what is in their way goes, and no link is followed. */
export async function layOver(files: Readonly<Record<string, string>>, folder: string): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    if (!isInside(name)) throw new UsageError(`check_files names "${name}", which leaves the result`);
    const parts = name.split("/");
    for (let depth = 1; depth < parts.length; depth++) {
      const at = path.join(folder, ...parts.slice(0, depth));
      const isFolder = await lstat(at).then(
        (entry) => entry.isDirectory(),
        () => false,
      );
      if (isFolder) continue;
      await rm(at, { force: true });
      await mkdir(at);
    }
    const file = path.join(folder, name);
    await rm(file, { recursive: true, force: true });
    await writeFile(file, text, { flag: "wx" });
  }
}

export interface Checked {
  readonly solved: boolean;
  readonly end: SandboxEnd;
}

/** A result that cannot be read is not solved: an agent may leave a file that nobody may read, or a folder too deep to name. */
const unreadable = (error: Error): Checked => ({
  solved: false,
  end: { code: null, stopped: "disk", stdout: "", stderr: `the result cannot be copied: ${error.message}` },
});

/** Runs the task's check, without network, on a copy of a result with the task's own files laid over it. */
export function checkResult(loaded: LoadedTask, workspace: string, sandbox: Sandbox, signal?: AbortSignal): Promise<Checked> {
  return inTemporary(async (folder) => {
    const copy = path.join(folder, "result");
    const failure = await copyFolder(workspace, copy).then(() => null, unreadable);
    if (failure !== null) return failure;
    await layOver(loaded.task.check_files ?? {}, copy);
    const end = await sandbox.run({
      command: ["sh", "-c", loaded.task.check],
      workspace: copy,
      readable: await installedIn(loaded),
      port: null,
      limits: CHECK_LIMITS,
      ...(signal && { signal }),
    });
    return { solved: end.code === 0, end };
  });
}

/** What a task's check says of its state before anything was done, and of its solution; null where none is recorded. */
export interface Verified {
  readonly before: Checked;
  readonly after: Checked | null;
}

/** Makes a task's state and runs its check on it, and with its solution. Throws a CommandError where git does not apply that. */
export function verifyTask(loaded: LoadedTask, sandbox: Sandbox, signal?: AbortSignal): Promise<Verified> {
  return inTemporary(async (folder) => {
    await makeWorkspace(loaded, folder);
    const before = await checkResult(loaded, folder, sandbox, signal);
    const { solution } = loaded.task;
    if (solution === undefined) return { before, after: null };
    await git(folder, ["apply", "--whitespace=nowarn", "-"], solution);
    return { before, after: await checkResult(loaded, folder, sandbox, signal) };
  });
}

/** sh could not run the check at all: that it fails says nothing. */
const CANNOT_RUN = [126, 127];

/** What is wrong with a task as its check tells it; null where nothing is. */
export function wrongWith({ before, after }: Verified): string | null {
  const { code, stopped, stderr } = before.end;
  if (stopped !== null) return `the check was stopped before its end: ${stopped}`;
  if (before.solved) return "the check passes before anything is done";
  if (code !== null && CANNOT_RUN.includes(code)) return `the check cannot run: ${stderr.trim().split("\n").at(-1)}`;
  if (after === null || after.solved) return null;
  return after.end.stopped === null
    ? `the check fails with the solution, exit code ${after.end.code}`
    : `the check was stopped with the solution: ${after.end.stopped}`;
}
