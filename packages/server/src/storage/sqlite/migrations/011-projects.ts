import type { Migration } from "./migration.js";

/** Projects, their sessions and runs, and the names that move between adapters. Of a project's runs at most one is unfinished. */
export const projects: Migration = {
  name: "011-projects",
  statements: [
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
  ],
};
