import { Kysely, type PostgresPoolClient } from "kysely";
import { ImprintError } from "../../common/error.js";
import { CannotStartError } from "../../config/errors.js";
import type { Database, Schema } from "../schema.js";
import type { Migration } from "../sqlite/migrations/migration.js";
import { describeAddress } from "./address.js";
import { SerializableDialect } from "./dialect.js";
import { codeOf } from "./failures.js";
import { migrate } from "./migrate.js";
import { createPool, type GuardedPool } from "./pool.js";

export interface PostgresOptions {
  readonly url: string;
  readonly migrations?: readonly Migration[];
}

export interface OpenedPostgres {
  readonly database: Database;
  /** Drawn when the database was first used. */
  readonly id: string;
}

/** What to do about it, by SQLSTATE or the system's code. */
const REMEDIES: Readonly<Record<string, string>> = {
  "28P01": "the user or its password is refused",
  "28000": "the server does not let this user in this way: pg_hba.conf says who may",
  "3D000": "there is no such database: createdb makes it",
  "42501": "the user may create no tables there: grant create on its schema",
  ECONNREFUSED: "no server listens there",
  ENOENT: "no server listens on that socket",
  ENOTFOUND: "there is no such host",
};

const reasonOf = (error: unknown): string => {
  const cause = error instanceof ImprintError ? error.cause : error;
  const code = codeOf(cause);
  // Codes of TLS are words of their own, such as DEPTH_ZERO_SELF_SIGNED_CERT.
  return REMEDIES[code] ?? (code || (cause instanceof Error ? cause.message : String(cause)));
};

/** Why a database cannot be used, in a sentence without its password. */
export const unusableDatabase = (url: string, error: unknown): CannotStartError =>
  error instanceof CannotStartError
    ? error
    : new CannotStartError(
        `The database ${describeAddress(url)} of database_url cannot be used: ${reasonOf(error)}. imprint doctor tries it again.`,
        { cause: error },
      );

const checkEncoding = async (client: PostgresPoolClient): Promise<void> => {
  const { rows } = await client.query("show server_encoding", []);
  const [{ server_encoding: encoding } = { server_encoding: "" }] = rows as { server_encoding: string }[];
  if (encoding !== "UTF8")
    throw new CannotStartError(`The database of database_url is encoded in ${encoding}: make one with createdb --encoding UTF8`);
};

const prepare = async (pool: GuardedPool, migrations?: readonly Migration[]): Promise<string> => {
  const client = await pool.connect();
  try {
    await checkEncoding(client);
    return (await migrate(client, migrations)).id;
  } finally {
    client.release();
  }
};

/**
 * Opens the registry in a Postgres database and migrates it.
 * @throws SchemaTooNewError, or CannotStartError for a database that cannot be used; nothing is left open then
 */
export const openPostgres = async ({ url, migrations }: PostgresOptions): Promise<OpenedPostgres> => {
  const pool = createPool(url);
  try {
    const id = await prepare(pool, migrations);
    return { id, database: new Kysely<Schema>({ dialect: new SerializableDialect({ pool }) }) };
  } catch (error) {
    await pool.end();
    throw unusableDatabase(url, error);
  }
};
