import type { Migration } from "./migration.js";

export const partialAdapters: Migration = {
  name: "005-partial-adapters",
  statements: ["alter table adapters add column partial text check (json_valid(partial))"],
};
