import type { Settings } from "../config/schema.js";

/** What the trainer is told of processes that a training may have: nothing where it is one. */
export const sharing = (settings: Pick<Settings, "processes" | "ray_nodes" | "shard_base">): readonly string[] => {
  const { processes, ray_nodes, shard_base } = settings;
  if (processes * ray_nodes === 1) return [];
  const nodes = ray_nodes > 1 ? ["--nodes", String(ray_nodes)] : [];
  return ["--processes", String(processes), ...nodes, ...(shard_base ? ["--shard-base"] : [])];
};

/** Of jobs that may share a process of the trainer. */
export const batching = ({ jobs_per_batch }: Pick<Settings, "jobs_per_batch">): readonly string[] =>
  jobs_per_batch > 1 ? ["--jobs-per-batch", String(jobs_per_batch)] : [];
