import type { Migration } from "./migration.js";

export const evaluations: Migration = {
  name: "010-evaluations",
  statements: ["alter table adapters add column evaluation text check (json_valid(evaluation))"],
};
