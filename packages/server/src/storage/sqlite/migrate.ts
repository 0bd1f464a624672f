import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import type Libsql from "libsql";
import { CannotStartError } from "../../common/error.js";

/** The registry was written by another Imprint: this one would misread it. */
export class OtherSchemaError extends CannotStartError {
  override readonly name = "OtherSchemaError";

  constructor(found: number) {
    super(
      `registry.db has schema version ${found}, and this Imprint knows ${VERSION}: run the Imprint that wrote it, or use another --data-dir`,
    );
  }
}

/** Registries of before the first release have this version, too, and the same tables. */
const FIRST_VERSION = 11;

const SCHEMA: readonly string[] = [
  `create table adapters (
    seq integer primary key autoincrement,
    adapter_id text not null unique,
    method text not null check (method in ('lora', 'hypernetwork')),
    base_model text not null,
    task_type text not null,
    session_id text not null,
    job_id text not null unique,
    rank integer not null check (rank > 0),
    alpha real not null,
    size integer not null check (size > 0),
    sha256 text not null check (length(sha256) = 64),
    files text not null check (json_valid(files)),
    metadata text not null check (json_valid(metadata)),
    proof text not null check (json_valid(proof)),
    created_at text not null,
    archived_at text,
    purged_at text,
    session_ids text not null default '[]' check (json_valid(session_ids)),
    partial text check (json_valid(partial)),
    evaluation text check (json_valid(evaluation))
  )`,
  "create index adapters_by_base_model on adapters (base_model, seq)",
  `create table sessions (
    seq integer primary key autoincrement,
    session_id text not null unique,
    summary text not null check (json_valid(summary)),
    words text not null default '',
    fingerprint text,
    by_hand integer not null default 0 check (by_hand in (0, 1)),
    stored_at text not null default ''
  )`,
  "create index sessions_by_time on sessions (by_hand, stored_at)",
  `create table training_speeds (
    seq integer primary key autoincrement,
    base_model text not null,
    quantization text not null,
    tokens_per_second real not null check (tokens_per_second > 0)
  )`,
  "create index training_speeds_by_model on training_speeds (base_model, quantization, seq)",
  `create table uploads (
    seq integer primary key autoincrement,
    file_id text not null unique,
    filename text not null,
    bytes integer not null check (bytes >= 0),
    created_at text not null
  )`,
  `create table adapter_aliases (
    alias text primary key,
    adapter_id text not null,
    moved_at text not null
  )`,
  `create table projects (
    seq integer primary key autoincrement,
    name text not null unique,
    base_model text not null,
    folders text not null check (json_valid(folders)),
    settings text not null check (json_valid(settings)),
    created_at text not null
  )`,
  `create table project_sessions (
    project text not null,
    session_id text not null,
    sha256 text not null,
    content text not null,
    opening text not null,
    at text not null,
    characters integer not null check (characters >= 0),
    primary key (project, session_id)
  )`,
  `create table project_runs (
    seq integer primary key autoincrement,
    project text not null,
    run integer not null check (run > 0),
    adapter_id text not null,
    status text not null,
    chosen text not null check (json_valid(chosen)),
    seed integer not null,
    train_job_id text,
    evaluate_job_id text,
    verdict text,
    sentence text,
    figures text,
    moved integer not null default 0 check (moved in (0, 1)),
    error text,
    created_at text not null,
    finished_at text,
    unique (project, run)
  )`,
  "create unique index project_runs_unfinished on project_runs (project) where finished_at is null",
];

const factOf = (name: string): string => `json_extract(summary, '$.${name}')`;

/** What has changed since: each of them makes the next version of the one before. */
const CHANGES: readonly (readonly string[])[] = [
  [
    ...["folder", "repository", "branch", "model"].map(
      (name) => `alter table sessions add column ${name} text generated always as (${factOf(name)}) virtual`,
    ),
    `alter table sessions add column recorded_at text generated always as
      (coalesce(${factOf("ended_at")}, ${factOf("started_at")}, stored_at)) virtual`,
    "drop index sessions_by_time",
    "create index sessions_by_time on sessions (by_hand, recorded_at)",
    "create index sessions_by_repository on sessions (repository)",
    // So that each is read again, once the service listens: when it was recorded stands in its file.
    "update sessions set fingerprint = null",
  ],
  ["alter table adapters add column served text check (json_valid(served))"],
  // Again: what a session shows of how it ended stands in its file.
  ["update sessions set fingerprint = null"],
  ["alter table adapters add column tasks text check (json_valid(tasks))"],
];
const VERSION = FIRST_VERSION + CHANGES.length;

const HEAD = "select user_version as version, (select count(*) from sqlite_master) as tables from pragma_user_version";
const headOf = (database: Libsql.Database) =>
  database.prepare(HEAD).get() as { readonly version: number; readonly tables: number };

/** What the registry has yet to be told: all of it, what has changed since it was made, or nothing. @throws OtherSchemaError; the file is as it was then */
const missingIn = (database: Libsql.Database): readonly string[] => {
  const { version, tables } = headOf(database);
  if (version === 0 && tables === 0) return [...SCHEMA, ...CHANGES.flat()];
  if (version < FIRST_VERSION || version > VERSION) throw new OtherSchemaError(version);
  return CHANGES.slice(version - FIRST_VERSION).flat();
};

/**
 * Copies an older registry, before it is changed, for those who go back to the Imprint that wrote it. Null where it is not older.
 * @throws OtherSchemaError, or what kept it from being copied; there is no part of a copy then
 */
export const keepOlder = (database: Libsql.Database, path: string): string | null => {
  if (missingIn(database).length === 0 || headOf(database).tables === 0) return null;
  const copy = path.replace(/\.db$/, `-${headOf(database).version}.db`);
  const temporary = `${copy}.tmp`;
  const handle = openSync(temporary, "w", 0o600);
  try {
    database.prepare("vacuum into ?").run([temporary]);
    fsyncSync(handle);
    renameSync(temporary, copy);
  } finally {
    closeSync(handle);
    rmSync(temporary, { force: true });
  }
  return copy;
};

/**
 * Makes the tables of a new registry, or changes those of an older one, in one transaction.
 * @throws OtherSchemaError, or SQLite's error; the file is as it was then
 */
export const migrate = (database: Libsql.Database): void => {
  if (missingIn(database).length === 0) return;
  database.exec("begin immediate");
  try {
    // Read again inside the transaction: another process may have made them meanwhile.
    for (const statement of missingIn(database)) database.exec(statement);
    database.exec(`pragma user_version = ${VERSION}`);
    database.exec("commit");
  } catch (error) {
    if (database.inTransaction) database.exec("rollback");
    throw error;
  }
};
