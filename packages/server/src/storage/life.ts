import { writeFileSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../common/clock.js";
import type { Discards } from "./discards.js";
import { isLeasedElsewhere, type Leases, leaseOf } from "./leases.js";
import type { DataPaths } from "./paths.js";

export const SIGN_OF_LIFE = "alive";
const BEAT_MS = 30_000;
/** A service that lost its lease with the database still works, and shows it on the disk that it works on. */
const SILENT_MS = 10 * 60_000;
/** What nobody's clock has to agree on: so long its sign was the same, as long as we looked. */
const STILL_MS = 3 * BEAT_MS;

/** Leaves a sign of life in a service's own folder for as long as it runs. The answer ends it. */
export const showLife = ({ paths, clock }: { readonly paths: DataPaths; readonly clock: Clock }): (() => void) => {
  let disarm: () => void = () => undefined;
  const beat = (): void => {
    try {
      writeFileSync(join(paths.own, SIGN_OF_LIFE), new Date(clock.now()).toISOString());
    } catch {
      // A full disk: the lease stands for it meanwhile.
    }
    disarm = clock.after(BEAT_MS, beat);
  };
  beat();
  return () => disarm();
};

const wasSilent = async (folder: string, now: number): Promise<boolean> => {
  const sign = await lstat(join(folder, SIGN_OF_LIFE)).catch(() => lstat(folder).catch(() => null));
  return sign !== null && now - sign.mtimeMs > SILENT_MS;
};

/**
 * Discards the folders of services that are gone: nobody has their lease, and none left a sign of life for ten minutes. Answers whose.
 */
export const sweepServices = async ({
  paths,
  leases,
  discards,
  now,
}: {
  readonly paths: DataPaths;
  readonly leases: Leases;
  readonly discards: Discards;
  readonly now: number;
}): Promise<readonly string[]> => {
  const gone: string[] = [];
  for (const id of await readdir(paths.services).catch(() => [])) {
    const folder = join(paths.services, id);
    if (folder === paths.own || !(await wasSilent(folder, now)) || !(await leases.take(leaseOf.service(id)))) continue;
    try {
      await discards.discard(folder);
      gone.push(id);
    } finally {
      await leases.release(leaseOf.service(id));
    }
  }
  return gone;
};

/**
 * Tells of other services whether they are gone: nobody has their lease, and their folder is gone, or shows no life. A service whose
 * connection broke has no lease for a while, and works: of such a one nobody knows until it was watched for a minute and a half.
 */
export const watchLives = ({
  paths,
  leases,
  clock,
}: {
  readonly paths: DataPaths;
  readonly leases: Leases;
  readonly clock: Clock;
}): ((id: string) => Promise<"alive" | "gone" | "unknown">) => {
  const seen = new Map<string, { readonly sign: number; readonly since: number }>();
  return async (id) => {
    const folder = join(paths.services, id);
    if (folder === paths.own || (await isLeasedElsewhere(leases, leaseOf.service(id)))) return "alive";
    const stats = await lstat(join(folder, SIGN_OF_LIFE)).catch(() => lstat(folder).catch(() => null));
    if (stats === null || (await wasSilent(folder, clock.now()))) return "gone";
    const before = seen.get(id);
    if (before?.sign === stats.mtimeMs) return clock.now() - before.since >= STILL_MS ? "gone" : "unknown";
    seen.set(id, { sign: stats.mtimeMs, since: clock.now() });
    return "unknown";
  };
};
