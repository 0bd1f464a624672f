import { CannotStartError, type Config } from "@imprint/server/configuration";
import { type Finding, missing, ok } from "./check.js";

const REMEDY = "Correct database_url or start its server; docs/scale.md says what it needs.";

/** Which database holds the registry, and whether it answers. Nothing is changed in it, and no password is shown. */
export async function checkDatabase({ settings: { database_url }, origins }: Config): Promise<Finding> {
  if (database_url === null) return ok("database", "SQLite, registry.db in the data directory");
  const { inspectDatabase } = await import("@imprint/server/stored");
  try {
    const { address, server, schema, known } = await inspectDatabase(database_url);
    const named = `Postgres ${server} at ${address} (database_url from ${origins.database_url})`;
    if (schema !== null && schema > known)
      return missing("database", `${named} has schema ${schema}, and this Imprint knows ${known}`, "Use a newer Imprint.");
    return ok("database", schema === null ? `${named}, empty: the first start fills it` : `${named}, schema ${schema}`);
  } catch (error) {
    if (!(error instanceof CannotStartError)) throw error;
    return missing("database", error.message.replace(/ imprint doctor tries it again\.$/, ""), REMEDY);
  }
}
