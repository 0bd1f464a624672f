import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import path from "node:path";
import { SetupFailure } from "../process/failures.mjs";

const GIB = 1024 ** 3;

/** torch with the CUDA libraries takes 5.5 GB unpacked; the rest is the downloads in flight. */
export const ENVIRONMENT_BYTES = 8 * GIB;

/** The sentence that refuses a disk too small, or null. */
export function diskProblem({ free, needed, folder }) {
  if (free >= needed) return null;
  return (
    `Not enough disk space: the set-up needs about ${gib(needed)} GB in ${folder} and ${gib(free)} GB are free. ` +
    "Free some space, or set IMPRINT_CACHE_DIR to a folder on a larger disk."
  );
}

export async function requireDisk({ folder, needed, freeBytes = freeBytesAt }) {
  const problem = diskProblem({ free: await freeBytes(folder), needed, folder });
  if (problem) throw new SetupFailure(problem);
}

async function freeBytesAt(folder) {
  let at = path.resolve(folder);
  while (!existsSync(at) && path.dirname(at) !== at) at = path.dirname(at);
  const { bavail, bsize } = await statfs(at);
  return bavail * bsize;
}

const gib = (bytes) => (bytes / GIB).toFixed(1).replace(/\.0$/, "");
