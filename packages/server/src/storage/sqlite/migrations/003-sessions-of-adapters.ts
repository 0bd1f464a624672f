import type { Migration } from "./migration.js";

export const sessionsOfAdapters: Migration = {
  name: "003-sessions-of-adapters",
  statements: [
    "alter table adapters add column session_ids text not null default '[]' check (json_valid(session_ids))",
    "update adapters set session_ids = json_array(session_id)",
    "drop index adapters_by_session",
  ],
};
