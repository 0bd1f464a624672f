import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DataPaths } from "../storage/paths.js";

/** What an orphan is called: see `sweepAdapters`. */
const ORPHAN = /^(?<id>.+)\.[0-9a-f]{8}$/;

const orphansOf = async (paths: DataPaths, adapterIds: ReadonlySet<string>): Promise<readonly string[]> => {
  const names = await readdir(paths.orphans).catch(() => []);
  return names.filter((name) => adapterIds.has(ORPHAN.exec(name)?.groups?.id ?? ""));
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
    ...(await orphansOf(paths, adapterIds)).map((name) => join(paths.orphans, name)),
  ];
  for (const path of doomed) await remove(path, { recursive: true, force: true });
  return doomed;
};
