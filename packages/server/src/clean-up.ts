import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { cleanUpAdapters } from "./registry/clean-up.js";
import { uploadIds } from "./routes/fine-tuning/uploads.js";
import { setAside } from "./storage/discards.js";
import type { DataPaths } from "./storage/paths.js";
import type { Database } from "./storage/schema.js";
import { inTransaction } from "./storage/transaction.js";

/** Hundreds of thousands of files take long to remove, and the start does not wait. */
const discardIncoming = async ({ root, incoming }: DataPaths): Promise<void> => {
  if ((await readdir(incoming)).length === 0) return;
  await setAside(root, incoming);
  await mkdir(incoming, { mode: 0o700 });
};

/** Clears what a crash can leave behind: parts of adapters, half-imported sessions, uploads without a row. Tells what it did. */
export const cleanUp = async (options: {
  readonly database: Database;
  readonly paths: DataPaths;
}): Promise<Awaited<ReturnType<typeof cleanUpAdapters>>> => {
  const { database, paths } = options;
  await discardIncoming(paths);

  const uploaded = await inTransaction(database, uploadIds);
  for (const name of await readdir(paths.uploads)) if (!uploaded.has(name)) await rm(join(paths.uploads, name), { force: true });

  for (const name of await readdir(paths.sessions))
    if (name.startsWith(".") && name.endsWith(".tmp")) await rm(join(paths.sessions, name), { force: true });
  return cleanUpAdapters(options);
};
