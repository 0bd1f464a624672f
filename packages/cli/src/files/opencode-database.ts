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

/** opencode's sessions with anything in them. */
export const opencodeSessions = (file: string, database: CopiedDatabase): readonly Candidate[] =>
  ([...database.rows(SESSIONS)] as readonly SessionRow[])
    .filter(({ parts }) => parts > 0)
    .map((session) => ({
      path: `${file}#${session.id}`,
      lines: () => linesOf(database, session),
      named: false,
      size: session.parts * PART_BYTES,
      modified: session.time_updated,
    }));
