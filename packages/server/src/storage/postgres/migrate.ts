import { randomUUID } from "node:crypto";
import type { PostgresPoolClient } from "kysely";
import { SchemaTooNewError } from "../schema-too-new.js";
import { MIGRATIONS } from "../sqlite/migrations/index.js";
import type { Migration } from "../sqlite/migrations/migration.js";
import { FUNCTIONS, inPostgres } from "./words.js";

/** Of the advisory lock that makes services which start together migrate one after the other: "imprint" in ASCII, cut to six bytes. */
const LOCK = "115823024236142";

/** What the database says of itself. `id` is drawn once: a data directory belongs to one database. */
export interface SchemaState {
  readonly version: number;
  readonly id: string;
}

/**
 * Brings the schema up to date in one transaction, so that a failing step leaves the old schema.
 * @throws SchemaTooNewError, or the error of the failing step
 */
export const migrate = async (
  client: PostgresPoolClient,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<SchemaState> => {
  const run = async (sql: string, parameters: readonly unknown[] = []) => (await client.query(sql, parameters)).rows;
  await run("begin");
  try {
    await run(`select pg_advisory_xact_lock(${LOCK})`);
    await run("create table if not exists imprint_schema (version integer not null, id text not null)");
    const [found] = (await run("select version, id from imprint_schema")) as SchemaState[];
    const { version, id } = found ?? { version: 0, id: randomUUID() };
    if (version > migrations.length)
      throw new SchemaTooNewError({
        registry: "The database",
        found: version,
        known: migrations.length,
        remedy: "database_url",
      });
    if (!found) await run("insert into imprint_schema (version, id) values (0, $1)", [id]);
    if (version < migrations.length) {
      for (const statement of FUNCTIONS) await run(statement);
      for (const { statements } of migrations.slice(version))
        for (const statement of statements) await run(inPostgres(statement));
      await run("update imprint_schema set version = $1", [migrations.length]);
    }
    await run("commit");
    return { version: migrations.length, id };
  } catch (error) {
    await run("rollback").catch(() => undefined);
    throw error;
  }
};
