import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Leases, leaseOf, soleLeases } from "../storage/leases.js";
import type { DataPaths } from "../storage/paths.js";
import type { Database } from "../storage/schema.js";
import { inTransaction } from "../storage/transaction.js";
import { adapterIds, isAdapterIdTaken } from "./adapters.js";
import { settleEvaluations } from "./evaluation.js";
import { eraseAdapters } from "./purge.js";

/**
 * Clears what a crash can leave behind of adapters: half-written ones, and those of a purge that was cut short. Whole ones whose row
 * was never committed are set aside in `adapters/.orphans` and not deleted: a user may have put them there. Exports can be made
 * again, so those of no adapter are deleted. Evaluations that were on their way to their adapters arrive.
 */
export const sweepAdapters = async ({
  database,
  paths,
  leases = soleLeases,
}: {
  readonly database: Database;
  readonly paths: DataPaths;
  readonly leases?: Leases;
}): Promise<{ readonly staging: readonly string[]; readonly orphans: readonly string[]; readonly erased: number }> => {
  const staging = await readdir(paths.staging);
  for (const name of staging) await rm(join(paths.staging, name), { recursive: true, force: true });

  await settleEvaluations({ database, paths });
  // The folders first: what another service registers meanwhile has its row by then.
  const entries = await readdir(paths.adapters, { withFileTypes: true });
  const exported = await readdir(paths.exports);
  const { kept, purged } = await inTransaction(database, adapterIds);
  const erased = await eraseAdapters(paths, purged);
  const strays = entries.filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith(".") && !kept.has(entry.name) && !purged.has(entry.name),
  );
  const orphans: string[] = [];
  for (const { name } of strays) if (await setOrphanAside(name, { database, paths, leases })) orphans.push(name);

  for (const name of exported) if (!kept.has(name)) await rm(join(paths.exports, name), { recursive: true, force: true });
  return { staging, orphans, erased: erased.length };
};

/** False for one whose job another service is about to register. */
const setOrphanAside = async (
  name: string,
  { database, paths, leases }: { readonly database: Database; readonly paths: DataPaths; readonly leases: Leases },
): Promise<boolean> => {
  if (!(await leases.take(leaseOf.adapter(name)))) return false;
  try {
    if (await inTransaction(database, (db) => isAdapterIdTaken(db, name))) return false;
    await mkdir(paths.orphans, { recursive: true, mode: 0o700 });
    await rename(join(paths.adapters, name), join(paths.orphans, `${name}.${randomUUID().slice(0, 8)}`));
    return true;
  } finally {
    await leases.release(leaseOf.adapter(name));
  }
};
