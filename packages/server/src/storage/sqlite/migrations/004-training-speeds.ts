import type { Migration } from "./migration.js";

export const trainingSpeeds: Migration = {
  name: "004-training-speeds",
  statements: [
    `create table training_speeds (
      seq integer primary key autoincrement,
      base_model text not null,
      quantization text not null,
      tokens_per_second real not null check (tokens_per_second > 0)
    )`,
    "create index training_speeds_by_model on training_speeds (base_model, quantization, seq)",
  ],
};
