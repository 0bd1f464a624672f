import { rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { type Leases, leaseOf, soleLeases } from "./leases.js";
import { SIGN_OF_LIFE } from "./life.js";
import { lockDataDirectory } from "./lock.js";
import { type DataPaths, dataPaths, ensureDataPaths } from "./paths.js";
import { checkNoMark, markRegistry } from "./registry-mark.js";
import type { Database } from "./schema.js";
import { openSqlite, type SqliteOptions } from "./sqlite/open.js";

/** Opens the registry in the data directory and migrates it. */
export const openDatabase = (options: SqliteOptions): Database => openSqlite(options);

/** What a service works on. */
export interface Storage {
  readonly paths: DataPaths;
  readonly database: Database;
  readonly leases: Leases;
  close(): Promise<void>;
}

const openSole = (root: string): Storage => {
  const paths = dataPaths(root);
  ensureDataPaths(paths);
  const unlock = lockDataDirectory(root);
  try {
    checkNoMark(paths);
    const database = openDatabase({ path: paths.database });
    return { paths, database, leases: soleLeases, close: () => database.destroy().finally(unlock) };
  } catch (error) {
    unlock();
    throw error;
  }
};

/** Removes a service's own folder where nothing is left in it: what is left is the next one's to discard. */
const leaveFolder = async ({ own, incoming, staging }: DataPaths): Promise<void> => {
  await rm(join(own, SIGN_OF_LIFE), { force: true }).catch(() => undefined);
  for (const folder of [incoming, staging, own]) await rmdir(folder).catch(() => undefined);
};

const openShared = async (
  root: string,
  {
    url,
    serviceId,
    onLost,
  }: { readonly url: string; readonly serviceId: string; readonly onLost: (names: readonly string[]) => void },
): Promise<Storage> => {
  const paths = dataPaths(root, serviceId);
  ensureDataPaths(dataPaths(root));
  const undo: (() => unknown)[] = [lockDataDirectory(root, { shared: true })];
  const close = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    // Loaded where it is used: the start of all others does not wait.
    const { openPostgres } = await import("./postgres/open.js");
    const { createPostgresLeases } = await import("./postgres/leases.js");
    const { database, id } = await openPostgres({ url });
    undo.push(() => database.destroy());
    await markRegistry(paths, id);
    const leases = createPostgresLeases({ url, onLost });
    undo.push(() => leases.close());
    await leases.take(leaseOf.service(serviceId));
    ensureDataPaths(paths);
    undo.push(() => leaveFolder(paths));
    return { paths, database, leases, close };
  } catch (error) {
    await close();
    throw error;
  }
};

/**
 * Opens data directory and registry: for this service alone, or to share them with others where the registry is in Postgres.
 * @throws DataDirectoryInUseError, SchemaTooNewError, ConfigError or CannotStartError; nothing is left open then
 */
export const openStorage = async ({
  root,
  url,
  ...shared
}: {
  readonly root: string;
  readonly url: string | null;
  readonly serviceId: string;
  /** Hears of leases that another service took while the connection was lost. */
  readonly onLost: (names: readonly string[]) => void;
}): Promise<Storage> => (url === null ? openSole(root) : openShared(root, { url, ...shared }));
