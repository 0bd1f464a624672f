import type { Migration } from "./migration.js";

/**
 * Which bytes a summary is of, so that a file that did not change is not read again, and which sessions were put there by hand.
 * Rows of before have no fingerprint: their files are read once more.
 */
export const sessionFiles: Migration = {
  name: "008-session-files",
  statements: [
    "alter table sessions add column fingerprint text",
    "alter table sessions add column by_hand integer not null default 0 check (by_hand in (0, 1))",
  ],
};
