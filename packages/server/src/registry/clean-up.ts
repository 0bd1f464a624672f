import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { nullIfMissing } from "../common/error.js";
import type { DataPaths } from "../storage/paths.js";
import type { Database } from "../storage/schema.js";
import { inTransaction } from "../storage/transaction.js";
import { adapterIds } from "./adapters.js";
import { settleEvaluations } from "./evaluation.js";

/** What a folder is called that `cleanUpAdapters` set aside. */
const SET_ASIDE = /^(?<id>.+)\.[0-9a-f]{8}$/;

const leftoversOf = async (paths: DataPaths, adapterIds: ReadonlySet<string>): Promise<readonly string[]> => {
  const names = (await readdir(paths.leftovers).catch(nullIfMissing)) ?? [];
  return names.filter((name) => adapterIds.has(SET_ASIDE.exec(name)?.groups?.id ?? ""));
};

/**
 * Removes all that is on the disk of purged adapters, wherever an interrupted purge left it; twice is fine. Their rows are
 * marked as purged before: whatever interrupts this, the next start begins it again.
 */
export const eraseAdapters = async (
  paths: DataPaths,
  adapterIds: ReadonlySet<string>,
  remove: typeof rm = rm,
): Promise<readonly string[]> => {
  const present = async (folder: string): Promise<readonly string[]> =>
    (await readdir(folder)).filter((name) => adapterIds.has(name)).map((name) => join(folder, name));
  const doomed = [
    ...(await present(paths.adapters)),
    ...(await present(paths.exports)),
    ...(await leftoversOf(paths, adapterIds)).map((name) => join(paths.leftovers, name)),
  ];
  for (const path of doomed) await remove(path, { recursive: true, force: true });
  return doomed;
};

/**
 * Clears what a crash can leave behind of adapters: half-written ones, and those of a purge that was cut short. Whole ones whose row
 * was never committed are set aside in `adapters/.orphans` and not deleted: a user may have put them there. Exports can be made
 * again, so those of no adapter are deleted. Evaluations that were on their way to their adapters arrive.
 */
export const cleanUpAdapters = async ({
  database,
  paths,
}: {
  readonly database: Database;
  readonly paths: DataPaths;
}): Promise<{ readonly staging: readonly string[]; readonly leftovers: readonly string[]; readonly erased: number }> => {
  const staging = await readdir(paths.staging);
  for (const name of staging) await rm(join(paths.staging, name), { recursive: true, force: true });

  await settleEvaluations({ database, paths });
  const entries = await readdir(paths.adapters, { withFileTypes: true });
  const exported = await readdir(paths.exports);
  const { kept, purged } = await inTransaction(database, adapterIds);
  const erased = await eraseAdapters(paths, purged);
  const leftovers = entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && !kept.has(entry.name) && !purged.has(entry.name))
    .map(({ name }) => name);
  if (leftovers.length > 0) await mkdir(paths.leftovers, { recursive: true, mode: 0o700 });
  for (const name of leftovers)
    await rename(join(paths.adapters, name), join(paths.leftovers, `${name}.${randomUUID().slice(0, 8)}`));

  for (const name of exported) if (!kept.has(name)) await rm(join(paths.exports, name), { recursive: true, force: true });
  return { staging, leftovers, erased: erased.length };
};
