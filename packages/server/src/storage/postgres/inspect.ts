import pg from "pg";
import { CannotStartError } from "../../config/errors.js";
import { MIGRATIONS } from "../sqlite/migrations/index.js";
import { clientConfig, describeAddress } from "./address.js";
import { asDatabaseError } from "./failures.js";
import { unusableDatabase } from "./open.js";

/** What a database says of itself to who changes nothing in it. */
export interface DatabaseState {
  /** Without the password. */
  readonly address: string;
  readonly server: string;
  /** Of the registry's schema; null where none was made yet. */
  readonly schema: number | null;
  /** What this Imprint makes of it. */
  readonly known: number;
}

/** @throws CannotStartError, with why the database cannot be used */
export const inspectDatabase = async (url: string): Promise<DatabaseState> => {
  const client = new pg.Client(clientConfig(url));
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows: servers } = await client.query<{ server_version: string }>("show server_version");
    const { rows: tables } = await client.query<{ found: string | null }>("select to_regclass('imprint_schema')::text as found");
    const versions = tables[0]?.found ? (await client.query<{ version: number }>("select version from imprint_schema")).rows : [];
    return {
      address: describeAddress(url),
      server: servers[0]?.server_version ?? "",
      schema: versions[0]?.version ?? null,
      known: MIGRATIONS.length,
    };
  } catch (error) {
    throw error instanceof CannotStartError ? error : unusableDatabase(url, asDatabaseError(error));
  } finally {
    await client.end().catch(() => undefined);
  }
};
