import type { CopiedDatabase } from "@imprint/server/stored";
import type { Candidate } from "./candidate.js";
import { cursorSessions, isCursorDatabase } from "./cursor-database.js";
import { isOpencodeDatabase, opencodeSessions } from "./opencode-database.js";

/** How the sessions are found in a copy of a tool's database. */
type Sessions = (file: string, database: CopiedDatabase) => readonly Candidate[];

const sessionsOf = (file: string): Sessions | undefined =>
  isOpencodeDatabase(file) ? opencodeSessions : isCursorDatabase(file) ? cursorSessions : undefined;

/** Whether a file is by its name a database that is opened. */
export const isDatabase = (file: string): boolean => sessionsOf(file) !== undefined;

/** Copies that are read from, by their databases' paths: of one that has changed, in a folder that is watched, the older one goes. */
const copies = new Map<string, { readonly stamp: string; readonly candidates: readonly Candidate[]; close(): void }>();
const closeAll = (): void => {
  for (const { close } of copies.values()) close();
};

/** The sessions of a database as candidates that are read when they are asked for. Throws what SQLite cannot read. */
export async function sessionsInDatabase(
  file: string,
  { size, modified }: Pick<Candidate, "size" | "modified">,
): Promise<readonly Candidate[]> {
  const stamp = `${size} ${modified}`;
  const known = copies.get(file);
  if (known?.stamp === stamp) return known.candidates;
  known?.close();
  copies.delete(file);
  if (!process.listeners("exit").includes(closeAll)) process.once("exit", closeAll);
  const { openCopy } = await import("@imprint/server/stored");
  const database = openCopy(file);
  try {
    const candidates = sessionsOf(file)?.(file, database) ?? [];
    copies.set(file, { stamp, candidates, close: database.close });
    return candidates;
  } catch (error) {
    database.close();
    throw error;
  }
}
