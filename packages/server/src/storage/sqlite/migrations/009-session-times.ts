import type { Migration } from "./migration.js";

/** Lists are newest first by when a session was stored: the index may hear of it later, when it makes up for a crash. */
export const sessionTimes: Migration = {
  name: "009-session-times",
  statements: [
    "alter table sessions add column stored_at text not null default ''",
    "update sessions set stored_at = coalesce(json_extract(summary, '$.created_at'), '')",
    "create index sessions_by_time on sessions (by_hand, stored_at)",
  ],
};
