import path from "node:path";
import type { CopiedDatabase } from "@imprint/server/stored";
import type { Candidate } from "./candidate.js";

/** opencode's database, which it has one of for each of its release channels. */
export const isOpencodeDatabase = (file: string): boolean => /^opencode(?:-[\w.]+)?\.db$/.test(path.basename(file));

interface SessionRow {
  readonly id: string;
  readonly project_id: string;
  readonly version: string;
  readonly revert: string | null;
  readonly time_created: number;
  readonly time_updated: number;
  readonly parts: number;
}

interface DataRow {
  readonly id: string;
  readonly message_id: string;
  readonly data: string;
}

const SESSIONS = `select id, project_id, version, revert, time_created, time_updated,
  (select count(*) from part where part.session_id = session.id) as parts
  from session order by time_created, id`;
const MESSAGES = "select id, data from message where session_id = ? order by id";
const PARTS = "select id, message_id, data from part where session_id = ? order by id";

/** About what a part takes; how much is left of an import is shown by it. */
const PART_BYTES = 2_048;

/** A session's records as lines, as opencode kept them in files before it had a database. */
function* linesOf(
  { rows }: CopiedDatabase,
  { id: sessionID, project_id, version, revert, time_created }: SessionRow,
): Generator<string> {
  const line = (record: object): string => `${JSON.stringify(record)}\n`;
  const session = { id: sessionID, projectID: project_id, version, time: { created: time_created } };
  yield line({ ...session, ...(revert !== null && { revert: JSON.parse(revert) }) });
  for (const { id, data } of rows(MESSAGES, sessionID) as Iterable<DataRow>) yield line({ ...JSON.parse(data), id, sessionID });
  for (const { id, message_id: messageID, data } of rows(PARTS, sessionID) as Iterable<DataRow>)
    yield line({ ...JSON.parse(data), id, messageID, sessionID });
}

/** Copies that are read from, by their databases' paths: of one that has changed, in a folder that is watched, the older one goes. */
const copies = new Map<string, { readonly stamp: string; readonly candidates: readonly Candidate[]; close(): void }>();
const closeAll = (): void => {
  for (const { close } of copies.values()) close();
};

/** The sessions with anything in them as candidates that are read when they are asked for. Throws what SQLite cannot read. */
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
    const sessions = ([...database.rows(SESSIONS)] as readonly SessionRow[]).filter(({ parts }) => parts > 0);
    const candidates = sessions.map((session) => ({
      path: `${file}#${session.id}`,
      lines: () => linesOf(database, session),
      named: false,
      size: session.parts * PART_BYTES,
      modified: session.time_updated,
    }));
    copies.set(file, { stamp, candidates, close: database.close });
    return candidates;
  } catch (error) {
    database.close();
    throw error;
  }
}
