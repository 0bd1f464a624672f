import { open } from "node:fs/promises";
import type { CopiedDatabase } from "@imprint/server/stored";
import type { Candidate } from "./candidate.js";
import { cursorSessions, isCursorDatabase } from "./cursor-database.js";
import { gooseSessions, isGooseDatabase } from "./goose-database.js";
import { isOpencodeDatabase, opencodeSessions } from "./opencode-database.js";

/** Whether a file in a folder is by its name a database that is opened. */
export const isDatabase = (file: string): boolean => isOpencodeDatabase(file) || isCursorDatabase(file) || isGooseDatabase(file);

type Found = Pick<Candidate, "size" | "modified">;

const SQLITE = "SQLite format 3\x00";

/** Whether a file is a database by its first bytes, whatever it is called. */
export async function isSqlite(file: string): Promise<boolean> {
  const handle = await open(file).catch(() => null);
  if (handle === null) return false;
  const { buffer } = await handle.read(Buffer.alloc(SQLITE.length), 0).finally(() => handle.close());
  return buffer.toString("latin1") === SQLITE;
}

/** The tables say whose database it is. */
function sessionsIn(file: string, database: CopiedDatabase, found: Found): readonly Candidate[] {
  const rows = database.rows("select name from sqlite_schema where type = 'table' order by name") as Iterable<{
    readonly name: string;
  }>;
  const tables = new Set(Array.from(rows, ({ name }) => name));
  if (tables.has("cursorDiskKV")) return cursorSessions(file, database);
  const isGoose = [...database.rows("select 1 from pragma_table_info('messages') where name = 'content_json'")].length > 0;
  if (isGoose) return gooseSessions(file, database);
  const isOpencode = isOpencodeDatabase(file) || tables.has("session_v2") || (tables.has("session") && tables.has("part"));
  return isOpencode ? opencodeSessions(database, { file, tables, found }) : [];
}

/** Copies that are read from, by their databases' paths: of one that has changed, in a folder that is watched, the older one goes. */
const copies = new Map<string, { readonly stamp: string; readonly candidates: readonly Candidate[]; close(): void }>();

/** The sessions of a database as candidates that are read when they are asked for. Throws what SQLite cannot read. */
export async function sessionsInDatabase(file: string, found: Found): Promise<readonly Candidate[]> {
  const stamp = `${found.size} ${found.modified}`;
  const known = copies.get(file);
  if (known?.stamp === stamp) return known.candidates;
  known?.close();
  copies.delete(file);
  const { openCopy } = await import("@imprint/server/stored");
  const database = openCopy(file);
  try {
    const candidates = sessionsIn(file, database, found);
    copies.set(file, { stamp, candidates, close: database.close });
    return candidates;
  } catch (error) {
    database.close();
    throw error;
  }
}
