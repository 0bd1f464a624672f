import type { Migration } from "./migration.js";

export const uploads: Migration = {
  name: "006-uploads",
  statements: [
    `create table uploads (
      seq integer primary key autoincrement,
      file_id text not null unique,
      filename text not null,
      bytes integer not null check (bytes >= 0),
      created_at text not null
    )`,
  ],
};
