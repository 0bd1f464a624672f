import path from "node:path";
import type { CopiedDatabase } from "@imprint/server/stored";
import { SessionUnreadable } from "@imprint/sessions";
import type { Candidate } from "./candidate.js";

/** opencode's database, which it has one of for each of its release channels. */
export const isOpencodeDatabase = (file: string): boolean => /^opencode(?:-[\w.]+)?\.db$/.test(path.basename(file));

interface SessionRow {
  readonly id: string;
  readonly project_id: string;
  readonly version: string;
  readonly directory?: string | null;
  readonly title?: string | null;
  readonly revert: string | null;
  readonly parent_id?: string | null;
  readonly fork_session_id?: string | null;
  readonly time_created: number;
  readonly time_updated: number;
  readonly parts: number;
}

interface DataRow {
  readonly id: string;
  readonly data: string;
}

/** How one generation of opencode keeps its sessions. Both can stand in one database: what a newer one took over is old in the other's tables. */
interface Generation {
  readonly tables: readonly string[];
  readonly sessions: string;
  /** The records of a session behind its first one, as files held them before there was a database. */
  records(database: CopiedDatabase, sessionID: string): Iterable<object>;
}

const sessionsOf = (table: string, parts: string): string =>
  `select ${table}.*, (select count(*) from ${parts} where ${parts}.session_id = ${table}.id) as parts
  from ${table} order by time_created, id`;

const FIRST: Generation = {
  tables: ["session", "message", "part"],
  sessions: sessionsOf("session", "part"),
  *records({ rows }, sessionID) {
    const messages = "select id, data from message where session_id = ? order by id";
    for (const { id, data } of rows(messages, sessionID) as Iterable<DataRow>) yield { ...JSON.parse(data), id, sessionID };
    const parts = "select id, message_id, data from part where session_id = ? order by id";
    for (const { id, message_id: messageID, data } of rows(parts, sessionID) as Iterable<DataRow & { message_id: string }>)
      yield { ...JSON.parse(data), id, messageID, sessionID };
  },
};

const SECOND: Generation = {
  tables: ["session_v2", "session_message"],
  sessions: sessionsOf("session_v2", "session_message"),
  *records({ rows }, sessionID) {
    const messages = "select id, type, time_created, data from session_message where session_id = ? order by seq";
    for (const { id, type, time_created: created, data } of rows(messages, sessionID) as Iterable<
      DataRow & { type: string; time_created: number }
    >)
      yield { time: { created }, ...JSON.parse(data), id, type, sessionID };
  },
};

/** The newest first. */
const GENERATIONS = [SECOND, FIRST];

/** About what a part takes; how much is left of an import is shown by it. */
const PART_BYTES = 2_048;

/** A session's records as lines. */
function* linesOf(database: CopiedDatabase, generation: Generation, row: SessionRow): Generator<string> {
  const { id, project_id: projectID, version, directory, title, revert } = row;
  const { parent_id: parentID, fork_session_id: forkSessionID } = row;
  const line = (record: object): string => `${JSON.stringify(record)}\n`;
  yield line({
    ...{ id, projectID, version, title, time: { created: row.time_created } },
    ...(directory && { directory }),
    ...(parentID && { parentID }),
    ...(forkSessionID && { forkSessionID }),
    ...(revert !== null && { revert: JSON.parse(revert) }),
  });
  for (const record of generation.records(database, id)) yield line(record);
}

type Found = Pick<Candidate, "size" | "modified">;

/** Why not all of a database can be read; null where it can. */
function unknownTables(names: ReadonlySet<string>, known: readonly Generation[]): string | null {
  const newer = [...names].filter((name) => /^sessions?_v\d+$/.test(name) && !known.some(({ tables }) => tables.includes(name)));
  if (newer.length === 0 && known.length > 0) return null;
  const found = newer.length > 0 ? newer : [...names].slice(0, 8);
  const holds = found.length === 0 ? "no tables" : `sessions in tables that Imprint does not know (${found.join(", ")})`;
  return `holds ${holds}, of another generation of opencode than 1 and 2; bring what \`opencode export\` prints`;
}

/** What a database holds that cannot be read, as a candidate that says so when it is asked for: it is a store, and no file that was only come across. */
const refusing = (file: string, { size, modified }: Found, reason: string): Candidate => ({
  path: file,
  lines: () => {
    throw new SessionUnreadable(`${path.basename(file)} ${reason}.`);
  },
  named: true,
  size,
  modified,
});

interface Store {
  readonly file: string;
  /** The names of its tables, in their order. */
  readonly tables: ReadonlySet<string>;
  readonly found: Found;
}

/** opencode's sessions with anything in them, newest generation first; what cannot be read is a candidate that says so. */
export function opencodeSessions(database: CopiedDatabase, { file, tables, found }: Store): readonly Candidate[] {
  const known = GENERATIONS.filter((generation) => generation.tables.every((name) => tables.has(name)));
  const taken = new Set<string>();
  const candidates = known.flatMap((generation) => {
    const rows = ([...database.rows(generation.sessions)] as readonly SessionRow[]).filter(
      ({ id, parts }) => parts > 0 && !taken.has(id),
    );
    for (const { id } of rows) taken.add(id);
    return rows.map((row) => ({
      path: `${file}#${row.id}`,
      lines: () => linesOf(database, generation, row),
      named: false,
      size: row.parts * PART_BYTES,
      modified: row.time_updated,
    }));
  });
  const unknown = unknownTables(tables, known);
  return unknown === null ? candidates : [...candidates, refusing(file, found, unknown)];
}
