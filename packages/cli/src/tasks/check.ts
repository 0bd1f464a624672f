import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Sandbox, SandboxEnd } from "./sandbox.js";
import type { LoadedTask } from "./task-file.js";

const LIMITS = { seconds: 300, memoryMb: 4096, processes: 256, fileMb: 512 };

/** Runs a task's check on a copy of the result, with its own files laid over it. */
export async function checkResult(
  { task }: LoadedTask,
  workspace: string,
  sandbox: Sandbox,
  signal: AbortSignal,
): Promise<{ readonly solved: boolean; readonly end: SandboxEnd }> {
  const folder = await mkdtemp(path.join(tmpdir(), "imprint-check-"));
  try {
    await cp(workspace, folder, { recursive: true, verbatimSymlinks: true });
    for (const [name, text] of Object.entries(task.check_files ?? {})) {
      const file = path.join(folder, name);
      await rm(file, { recursive: true, force: true });
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    const end = await sandbox.run({ command: ["sh", "-c", task.check], workspace: folder, port: null, limits: LIMITS, signal });
    return { solved: end.code === 0, end };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
