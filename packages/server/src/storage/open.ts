import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { Kysely } from "kysely";
import Libsql from "libsql";
import { CannotStartError, diskRefusal } from "../common/error.js";
import { lockDataDirectory } from "./lock.js";
import { type DataPaths, dataPaths, ensureDataPaths, unusableDataDirectory } from "./paths.js";
import type { Database, Schema } from "./schema.js";
import { ImmediateDialect } from "./sqlite/dialect.js";
import { migrate, missingIn } from "./sqlite/migrate.js";

const BOOT_BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens the registry's SQLite file, with its tables.
 * WAL with synchronous FULL: a commit that was acknowledged survives a power cut.
 * @throws OtherSchemaError when the file was written by another Imprint
 */
export const openDatabase = ({
  path,
  busyTimeoutMs = 5_000,
}: {
  readonly path: string;
  readonly busyTimeoutMs?: number;
}): Database => {
  const file = new Libsql(path);
  try {
    file.exec(`pragma busy_timeout = ${BOOT_BUSY_TIMEOUT_MS}`);
    missingIn(file); // before anything is changed
    file.exec("pragma journal_mode = wal");
    file.exec("pragma synchronous = full");
    file.exec("pragma foreign_keys = on");
    migrate(file);
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
  close(): Promise<void>;
}

/** What an Imprint left that kept its registry in Postgres: with another one nobody would have registered the adapters here. */
const MARK_OF_POSTGRES = "registry.id";

/**
 * Opens data directory and registry, for this service alone.
 * @throws DataDirectoryInUseError, CannotStartError, OtherSchemaError or ConfigError; nothing is left open then
 */
export const openStorage = (root: string): Storage => {
  if (existsSync(join(root, MARK_OF_POSTGRES)))
    throw new CannotStartError(
      `The registry of ${root} is in a Postgres database, which this Imprint does not read: run the Imprint that wrote it, or use another --data-dir`,
    );
  const paths = dataPaths(root);
  ensureDataPaths(paths);
  const unlock = lockDataDirectory(root);
  try {
    const database = openDatabase({ path: paths.database });
    return { paths, database, close: () => database.destroy().finally(unlock) };
  } catch (error) {
    unlock();
    throw diskRefusal(error) === undefined ? error : unusableDataDirectory(root, error);
  }
};
