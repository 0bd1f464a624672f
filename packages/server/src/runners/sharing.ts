import type { Settings } from "../config/schema.js";

/** What the trainer is told of processes that a training may have: nothing where it is one. */
export const sharing = ({ processes, shard_base }: Pick<Settings, "processes" | "shard_base">): readonly string[] =>
  processes === 1 ? [] : ["--processes", String(processes), ...(shard_base ? ["--shard-base"] : [])];
