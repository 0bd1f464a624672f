import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { JobId } from "@imprint/contracts";
import { matches } from "@imprint/contracts/fields";

export interface SweepOptions {
  /** `<data dir>/checkpoints` */
  readonly folder: string;
  /** Checkpoints that stay: at most so many, ... */
  readonly keep: number;
  /** ... and none that was written longer ago. */
  readonly keepMs: number;
  readonly now: number;
  /** Jobs whose checkpoints somebody works with: they stay, and do not count. */
  readonly inUse: ReadonlySet<unknown>;
}

/** Removes old checkpoints; answers whose. */
export const sweepCheckpoints = async ({ folder, keep, keepMs, now, inUse }: SweepOptions): Promise<readonly string[]> => {
  const names = (await readdir(folder)).filter((name) => matches(JobId, name) && !inUse.has(name));
  const ages = await Promise.all(
    names.map(async (name) => {
      const found = await stat(join(folder, name)).catch(() => null);
      return found ? [{ name, writtenAt: found.mtimeMs }] : [];
    }),
  );
  const old = ages
    .flat()
    .sort((a, b) => b.writtenAt - a.writtenAt || (a.name < b.name ? 1 : -1))
    .filter(({ writtenAt }, index) => index >= keep || now - writtenAt > keepMs)
    .map(({ name }) => name);
  for (const name of old) await rm(join(folder, name), { recursive: true, force: true });
  return old;
};
