import type { Migration } from "./migration.js";

/** What a search looks through, in small letters: a column of its own, since JSON of ten thousand rows takes long to open. */
export const sessionWords: Migration = {
  name: "007-session-words",
  statements: [
    "alter table sessions add column words text not null default ''",
    `update sessions set words = lower(
      session_id || ' ' || json_extract(summary, '$.format') || ' ' || json_extract(summary, '$.outcome') || ' ' ||
      json_extract(summary, '$.task'))`,
  ],
};
