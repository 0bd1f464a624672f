import { lstat, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { uploadIds } from "./openai/uploads.js";
import { sweepAdapters } from "./registry/sweep.js";
import { setAside } from "./storage/discards.js";
import { type Leases, soleLeases } from "./storage/leases.js";
import type { DataPaths } from "./storage/paths.js";
import type { Database } from "./storage/schema.js";
import { inTransaction } from "./storage/transaction.js";

/** Hundreds of thousands of files take long to remove, and the start does not wait. */
const discardIncoming = async ({ own, incoming }: DataPaths): Promise<void> => {
  if ((await readdir(incoming)).length === 0) return;
  await setAside(own, incoming);
  await mkdir(incoming, { mode: 0o700 });
};

/** What lies there so long is nobody's who still writes. */
const OLD_MS = 60 * 60_000;

/** Removes files of a folder, but none that another service may be writing. */
const removeFiles = async (folder: string, names: readonly string[], { shared }: Leases): Promise<void> => {
  for (const name of names) {
    const path = join(folder, name);
    const stats = shared ? await lstat(path).catch(() => null) : null;
    if (!shared || (stats !== null && Date.now() - stats.mtimeMs > OLD_MS)) await rm(path, { force: true });
  }
};

/** Clears what a crash can leave behind: parts of adapters, half-imported sessions, uploads without a row. Tells what it did. */
export const sweep = async (options: {
  readonly database: Database;
  readonly paths: DataPaths;
  readonly leases?: Leases;
}): Promise<Awaited<ReturnType<typeof sweepAdapters>>> => {
  const { database, paths, leases = soleLeases } = options;
  await discardIncoming(paths);

  // The files first: what another service uploads meanwhile has its row by then.
  const present = await readdir(paths.uploads);
  const uploaded = await inTransaction(database, uploadIds);
  const strays = present.filter((name) => !uploaded.has(name));
  await removeFiles(paths.uploads, strays, leases);

  const temporary = (await readdir(paths.sessions)).filter((name) => name.startsWith(".") && name.endsWith(".tmp"));
  await removeFiles(paths.sessions, temporary, leases);
  return sweepAdapters(options);
};
