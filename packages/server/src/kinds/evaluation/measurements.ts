import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

const KEPT_MS = 30 * 24 * 3_600_000;
const KEPT_BYTES = 256 * 2 ** 20;

/** Removes the measurements that were written longest ago: none is kept for more than 30 days, and all of them take 256 MiB at most. */
export const cleanUpMeasurements = async ({
  folder,
  now,
  keptBytes = KEPT_BYTES,
}: {
  /** `<data dir>/measurements` */
  readonly folder: string;
  readonly now: number;
  readonly keptBytes?: number;
}): Promise<void> => {
  const names = await readdir(folder);
  const found = await Promise.all(names.map(async (name) => ({ name, stats: await stat(join(folder, name)).catch(() => null) })));
  let bytes = 0;
  for (const { name, stats } of found.toSorted((a, b) => (b.stats?.mtimeMs ?? 0) - (a.stats?.mtimeMs ?? 0))) {
    bytes += stats?.size ?? 0;
    if (bytes > keptBytes || now - (stats?.mtimeMs ?? 0) > KEPT_MS)
      await rm(join(folder, name), { recursive: true, force: true });
  }
};
