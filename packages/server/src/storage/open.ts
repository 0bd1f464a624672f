import type { Database } from "./schema.js";
import { openSqlite, type SqliteOptions } from "./sqlite/open.js";

/** Opens the registry and migrates it. Another database is a folder beside `sqlite/`, and a line here. */
export const openDatabase = (options: SqliteOptions): Database => openSqlite(options);
