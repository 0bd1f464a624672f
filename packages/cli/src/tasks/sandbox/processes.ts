import { readdirSync, readFileSync } from "node:fs";

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly bytes: number;
}

const field = (status: string, name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);

function readProcess(pid: number): readonly Process[] {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    // What is mapped from files can be dropped at any time, and would count once for each process.
    const bytes = (field(status, "RssAnon") + field(status, "RssShmem")) * 1024;
    return [{ pid, parent: field(status, "PPid"), bytes }];
  } catch {
    return []; // it ended
  }
}

export interface Usage {
  readonly processes: number;
  readonly bytes: number;
}

/**
 * What a process and all that descend from it take. Of the init of a pid namespace these are all that run in there: it inherits those
 * whose parents end. Read at once and not in turns: a fork bomb would get in between.
 */
export function usageBelow(root: number): Usage {
  const children = new Map<number, Process[]>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    for (const one of readProcess(Number(name))) children.set(one.parent, (children.get(one.parent) ?? []).concat(one));
  }
  const below = new Map(readProcess(root).map((one) => [one.pid, one]));
  // A map's iteration reaches what is added on the way, and no process twice.
  for (const pid of below.keys()) for (const child of children.get(pid) ?? []) below.set(child.pid, child);
  return { processes: below.size, bytes: [...below.values()].reduce((sum, { bytes }) => sum + bytes, 0) };
}

/** When a process began, in the kernel's ticks: two processes of one id differ in it. Null for one that has ended. */
export function beginningOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, ...others] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" ? null : (others[18] ?? null);
  } catch {
    return null;
  }
}
