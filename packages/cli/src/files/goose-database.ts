import path from "node:path";
import type { CopiedDatabase } from "@imprint/server/stored";
import type { Candidate } from "./candidate.js";

/** Goose's database of all sessions. */
export const isGooseDatabase = (file: string): boolean => path.basename(file) === "sessions.db";

type Row = Readonly<Record<string, string | number | null>>;

const SESSIONS = `select *, (select sum(length(content_json)) from messages where session_id = sessions.id) as bytes
  from sessions where bytes > 0 order by created_at, id`;
const MESSAGES = "select * from messages where session_id = ? order by id";

/** A session as Goose wrote it into a file of its own before it had a database. */
function* linesOf({ rows }: CopiedDatabase, { model_config_json: model, ...session }: Row): Generator<string> {
  yield `${JSON.stringify({ ...session, model_config: JSON.parse(`${model ?? null}`) })}\n`;
  for (const row of rows(MESSAGES, session.id) as Iterable<Row>)
    yield `{"role":"${row.role}","created":${row.created_timestamp},"metadata":${row.metadata_json ?? null},"content":${row.content_json}}\n`;
}

/** Goose's sessions in which anything was said. */
export const gooseSessions = (file: string, database: CopiedDatabase): readonly Candidate[] =>
  Array.from(database.rows(SESSIONS) as Iterable<Row>, (row) => ({
    path: `${file}#${row.id}`,
    lines: () => linesOf(database, row),
    named: false,
    size: Number(row.bytes),
    modified: Date.parse(`${row.updated_at}Z`) || 0,
  }));
