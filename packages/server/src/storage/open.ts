import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { Kysely } from "kysely";
import Libsql from "libsql";
import { CannotStartError, diskRefusal } from "../common/error.js";
import { lockDataDirectory } from "./lock.js";
import { type DataPaths, dataPaths, ensureDataPaths, unusableDataDirectory } from "./paths.js";
import type { Database, Schema } from "./schema.js";
import { ImmediateDialect } from "./sqlite/dialect.js";
import { keepOlder, migrate } from "./sqlite/migrate.js";

/**
 * Opens the registry's SQLite file, with its tables.
 * WAL with synchronous FULL: a commit that was acknowledged survives a power cut.
 * @throws OtherSchemaError when the file was written by another Imprint
 */
export const openDatabase = ({
  path,
  busyTimeoutMs = 5_000,
  onOlder,
}: {
  readonly path: string;
  readonly busyTimeoutMs?: number;
  /** Told where the copy of an older registry is, which is changed now. */
  readonly onOlder?: (copy: string) => void;
}): Database => {
  const file = new Libsql(path);
  try {
    file.exec("pragma busy_timeout = 5000");
    const copy = keepOlder(file, path); // before anything is changed
    file.exec("pragma journal_mode = wal");
    file.exec("pragma synchronous = full");
    file.exec("pragma foreign_keys = on");
    migrate(file);
    if (copy !== null) onOlder?.(copy);
    chmodSync(path, 0o600);
    // From here on ImmediateDriver waits, without blocking the event loop.
    file.exec("pragma busy_timeout = 0");
  } catch (error) {
    file.close();
    throw error;
  }
  return new Kysely<Schema>({
    dialect: new ImmediateDialect({
      busyTimeoutMs,
      exec: (sql) => file.exec(sql),
      inTransaction: () => file.inTransaction,
      database: {
        close: () => file.close(),
        prepare: (sql) => {
          const statement = file.prepare(sql);
          return {
            reader: statement.reader,
            all: (parameters) => statement.all(parameters),
            run: (parameters) => statement.run(parameters),
            iterate: (parameters) => statement.iterate(parameters) as IterableIterator<unknown>,
          };
        },
      },
    }),
  });
};

/** What a service works on. */
export interface Storage {
  readonly paths: DataPaths;
  readonly database: Database;
  /** The copy of an older Imprint's registry, which was changed; null where it was this one's. */
  readonly older: string | null;
  close(): Promise<void>;
}

/**
 * Opens data directory and registry, for this service alone.
 * @throws DataDirectoryInUseError, CannotStartError, OtherSchemaError or ConfigError; nothing is left open then
 */
export const openStorage = (root: string): Storage => {
  // What an Imprint left whose registry was elsewhere: with a new one here, its adapters would be removed as nobody's.
  if (existsSync(join(root, "registry.id")))
    throw new CannotStartError(`The registry of ${root} is in Postgres: use the Imprint that wrote it, or another --data-dir`);
  const paths = dataPaths(root);
  ensureDataPaths(paths);
  const unlock = lockDataDirectory(root);
  try {
    const kept: string[] = [];
    const database = openDatabase({ path: paths.database, onOlder: (copy) => kept.push(copy) });
    return { paths, database, older: kept[0] ?? null, close: () => database.destroy().finally(unlock) };
  } catch (error) {
    unlock();
    throw diskRefusal(error) === undefined ? error : unusableDataDirectory(root, error);
  }
};
