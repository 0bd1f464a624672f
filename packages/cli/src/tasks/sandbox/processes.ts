import { readdirSync, readFileSync } from "node:fs";

export interface Usage {
  readonly processes: number;
  readonly bytes: number;
}

const EMPTY = { children: [], bytes: 0 };

const field = (status: string, name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0);

/** A process's children by all its threads, and its memory, without what is mapped from files: that can be dropped, and would count for each process. */
function readProcess(pid: number): { readonly children: readonly number[]; readonly bytes: number } {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
    return { children, bytes: (field(status, "RssAnon") + field(status, "RssShmem")) * 1024 };
  } catch {
    return EMPTY; // it ended
  }
}

/**
 * What a process and all that descend from it take; it stops where there are more of them than `enough`. Of the init of a pid namespace
 * these are all that run in there: it inherits those whose parents end. Read at once and not in turns: a fork bomb would get in between.
 */
export function usageBelow(root: number, enough: number): Usage {
  const below = new Set([root]);
  let bytes = 0;
  // A set's iteration reaches what is added on the way.
  for (const pid of below) {
    const one = readProcess(pid);
    bytes += one.bytes;
    for (const child of one.children) below.add(child);
    if (below.size > enough) break;
  }
  return { processes: below.size, bytes };
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

const CLOSES_ON_EXEC = 0o2000000;

/** Files that this process was started with and would hand down to what it starts: those that do not close by themselves. */
export const inheritedFiles = (): readonly number[] =>
  readdirSync("/proc/self/fdinfo").flatMap((fd) => {
    try {
      const [, flags = "0"] = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8")) ?? [];
      return (Number.parseInt(flags, 8) & CLOSES_ON_EXEC) === 0 ? [Number(fd)] : [];
    } catch {
      return []; // the list's own
    }
  });
