import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { uploadIds } from "./openai/uploads.js";
import { sweepAdapters } from "./registry/sweep.js";
import type { DataPaths } from "./storage/paths.js";
import type { Database } from "./storage/schema.js";
import { inTransaction } from "./storage/transaction.js";

/** Clears what a crash can leave behind: parts of adapters, half-imported sessions, uploads without a row. Tells what it did. */
export const sweep = async (options: {
  readonly database: Database;
  readonly paths: DataPaths;
}): Promise<Awaited<ReturnType<typeof sweepAdapters>>> => {
  const { database, paths } = options;
  for (const name of await readdir(paths.incoming)) await rm(join(paths.incoming, name), { recursive: true, force: true });

  const uploaded = await inTransaction(database, uploadIds);
  for (const name of await readdir(paths.uploads)) if (!uploaded.has(name)) await rm(join(paths.uploads, name), { force: true });

  const temporary = (await readdir(paths.sessions)).filter((name) => name.startsWith(".") && name.endsWith(".tmp"));
  for (const name of temporary) await rm(join(paths.sessions, name), { force: true });
  return sweepAdapters(options);
};
