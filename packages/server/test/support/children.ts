import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Ids of all processes, where the system lists them as folders. */
export const processIds = (): readonly number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Process ids of the children of a process. Small images have no `ps`. */
export const childrenOf = (parent: number): readonly number[] => {
  if (!existsSync("/proc/self/stat")) {
    const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
    return lines.flatMap((line) => {
      const [pid, of] = line.trim().split(/\s+/).map(Number);
      return of === parent && pid !== undefined ? [pid] : [];
    });
  }
  return processIds().filter((pid) => {
    try {
      return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[1]) === parent;
    } catch {
      return false;
    }
  });
};
