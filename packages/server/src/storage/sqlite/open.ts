import { chmodSync } from "node:fs";
import { Kysely } from "kysely";
import Libsql from "libsql";
import type { Database, Schema } from "../schema.js";
import { ImmediateDialect } from "./dialect.js";
import { migrate } from "./migrate.js";
import type { Migration } from "./migrations/migration.js";

export interface SqliteOptions {
  readonly path: string;
  readonly busyTimeoutMs?: number;
  readonly migrations?: readonly Migration[];
}

const BOOT_BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens the registry's SQLite file and migrates it.
 * WAL with synchronous FULL: a commit that was acknowledged survives a power cut.
 * @throws SchemaTooNewError when the file was written by a newer Imprint
 */
export const openSqlite = ({ path, busyTimeoutMs = 5_000, migrations }: SqliteOptions): Database => {
  const file = new Libsql(path);
  try {
    file.exec(`pragma busy_timeout = ${BOOT_BUSY_TIMEOUT_MS}`);
    file.exec("pragma journal_mode = wal");
    file.exec("pragma synchronous = full");
    file.exec("pragma foreign_keys = on");
    migrate(file, migrations);
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
