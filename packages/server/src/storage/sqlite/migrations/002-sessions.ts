import type { Migration } from "./migration.js";

export const sessions: Migration = {
  name: "002-sessions",
  statements: [
    `create table sessions (
      seq integer primary key autoincrement,
      session_id text not null unique,
      summary text not null check (json_valid(summary))
    )`,
  ],
};
