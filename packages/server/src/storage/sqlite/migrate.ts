import type Libsql from "libsql";
import { SchemaTooNewError } from "../schema-too-new.js";
import { MIGRATIONS } from "./migrations/index.js";
import type { Migration } from "./migrations/migration.js";

const versionOf = (database: Libsql.Database): number => {
  const [row] = database.prepare("pragma user_version").all() as { user_version: number }[];
  return row?.user_version ?? 0;
};

/**
 * Brings the schema up to date in one transaction, so that a failing step leaves the old schema.
 * @throws SchemaTooNewError, or SQLite's error of the failing step
 */
export const migrate = (database: Libsql.Database, migrations: readonly Migration[] = MIGRATIONS): void => {
  if (versionOf(database) === migrations.length) return;
  database.exec("begin immediate");
  try {
    // Read again inside the transaction: another process may have migrated meanwhile.
    const version = versionOf(database);
    if (version > migrations.length)
      throw new SchemaTooNewError({ registry: "registry.db", found: version, known: migrations.length, remedy: "--data-dir" });
    for (const { statements } of migrations.slice(version)) for (const statement of statements) database.exec(statement);
    database.exec(`pragma user_version = ${migrations.length}`);
    database.exec("commit");
  } catch (error) {
    if (database.inTransaction) database.exec("rollback");
    throw error;
  }
};
