import { openPostgres } from "./postgres/open.js";
import type { Database } from "./schema.js";
import { openSqlite, type SqliteOptions } from "./sqlite/open.js";

/** Opens the registry in the data directory and migrates it. */
export const openDatabase = (options: SqliteOptions): Database => openSqlite(options);
