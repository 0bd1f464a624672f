import { existsSync } from "node:fs";
import { mkdir, rmdir, writeFile } from "node:fs/promises";
import path from "node:path";

/** Where the kernel bounds groups of processes: control groups, the first version and the second. */
const HIERARCHIES = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"];

/**
 * Makes a group of processes that the kernel bounds; null where this user may not. Root may, and needs it: the kernel's other bound on
 * processes does not hold for root's.
 */
export async function makeGroup(name: string, tasks: number): Promise<string | null> {
  for (const folder of HIERARCHIES) {
    const group = path.join(folder, name);
    try {
      await mkdir(group);
    } catch {
      continue;
    }
    // Without this file the folder is of a hierarchy that does not count processes.
    if (existsSync(path.join(group, "pids.max"))) {
      await writeFile(path.join(group, "pids.max"), String(tasks));
      return group;
    }
    await rmdir(group);
  }
  return null;
}

/** A command that enters the group and becomes the given one. */
export const inGroup = (group: string | null, command: readonly [string, ...string[]]): readonly [string, ...string[]] =>
  group === null ? command : ["/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', path.join(group, "cgroup.procs"), ...command];
