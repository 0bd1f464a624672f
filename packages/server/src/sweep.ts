import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { uploadIds } from "./openai/uploads.js";
import { adapterIdsWithFiles } from "./registry/adapters.js";
import type { DataPaths } from "./storage/paths.js";
import type { Database } from "./storage/schema.js";
import { inTransaction } from "./storage/transaction.js";

/** What a sweep did: names of folders. */
export interface Sweep {
  readonly staging: readonly string[];
  readonly orphans: readonly string[];
}

/**
 * Clears what a crash can leave behind: half-written adapters, and whole ones whose row was never committed or is purged,
 * half-imported sessions, uploads without a row.
 * Adapters' folders without a row are set aside in `adapters/.orphans` and not deleted: a user may have put them there. Exports
 * can be made again, so those of no adapter are deleted.
 */
export const sweep = async ({ database, paths }: { readonly database: Database; readonly paths: DataPaths }): Promise<Sweep> => {
  const staging = await readdir(paths.staging);
  for (const name of staging) await rm(join(paths.staging, name), { recursive: true, force: true });
  for (const name of await readdir(paths.incoming)) await rm(join(paths.incoming, name), { recursive: true, force: true });

  const known = await inTransaction(database, adapterIdsWithFiles);
  const entries = await readdir(paths.adapters, { withFileTypes: true });
  const orphans = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && !known.has(entry.name));
  if (orphans.length > 0) await mkdir(paths.orphans, { recursive: true, mode: 0o700 });
  for (const { name } of orphans)
    await rename(join(paths.adapters, name), join(paths.orphans, `${name}.${randomUUID().slice(0, 8)}`));

  const uploaded = await inTransaction(database, uploadIds);
  for (const name of await readdir(paths.uploads)) if (!uploaded.has(name)) await rm(join(paths.uploads, name), { force: true });

  for (const name of await readdir(paths.exports))
    if (!known.has(name)) await rm(join(paths.exports, name), { recursive: true, force: true });

  const temporary = (await readdir(paths.sessions)).filter((name) => name.startsWith(".") && name.endsWith(".tmp"));
  for (const name of temporary) await rm(join(paths.sessions, name), { force: true });
  return { staging, orphans: orphans.map(({ name }) => name) };
};
