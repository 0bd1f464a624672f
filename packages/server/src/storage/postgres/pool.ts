import type { PostgresPool, PostgresPoolClient } from "kysely";
import pg from "pg";
import { clientConfig } from "./address.js";
import { asDatabaseError, isUnreachable } from "./failures.js";

/** Connections of one service, besides the one of its leases. */
const CONNECTIONS = 10;
const INT8 = 20;
const NUL = /\0/g;

/** No text of Postgres holds a NUL: one that is looked for is not there, and one that is stored is stored without. */
const withoutNul = (parameter: unknown): unknown =>
  typeof parameter === "string" && parameter.includes("\0") ? parameter.replace(NUL, "\ufffd") : parameter;

/** A connection whose errors are the service's, and which is thrown away once its server does not answer. */
const guarded = (client: pg.PoolClient): PostgresPoolClient => {
  let broken = false;
  const query = async (sql: string, parameters: readonly unknown[] = []) => {
    try {
      const result = await client.query(sql, parameters.map(withoutNul));
      // COMMIT after a statement that failed is a ROLLBACK, and no error.
      if (sql === "commit" && result.command === "ROLLBACK") throw new Error("nothing is committed: an earlier statement failed");
      return result;
    } catch (error) {
      broken ||= isUnreachable(error);
      throw asDatabaseError(error, { committing: sql === "commit" });
    }
  };
  // Kysely asks for a cursor only where it is given one.
  return { query: query as unknown as PostgresPoolClient["query"], release: () => client.release(broken) };
};

export interface GuardedPool extends PostgresPool {
  connect(): Promise<PostgresPoolClient>;
}

/** Connections to the database, made when they are needed and again when they are lost. */
export const createPool = (url: string): GuardedPool => {
  const pool = new pg.Pool({
    ...clientConfig(url),
    max: CONNECTIONS,
    types: { getTypeParser: (oid: number) => (oid === INT8 ? Number : pg.types.getTypeParser(oid)) },
  });
  const quiet = (): void => undefined;
  // Without a listener the loss of a connection ends the process; whoever uses it is told by the statement that fails.
  pool.on("error", quiet);
  pool.on("connect", (client) => client.on("error", quiet));
  return {
    connect: async () => {
      try {
        return guarded(await pool.connect());
      } catch (error) {
        throw asDatabaseError(error);
      }
    },
    end: () => pool.end(),
  };
};
