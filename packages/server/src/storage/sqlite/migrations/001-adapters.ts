import type { Migration } from "./migration.js";

export const adapters: Migration = {
  name: "001-adapters",
  statements: [
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
      purged_at text
    )`,
    "create index adapters_by_base_model on adapters (base_model, seq)",
    "create index adapters_by_session on adapters (session_id, seq)",
  ],
};
