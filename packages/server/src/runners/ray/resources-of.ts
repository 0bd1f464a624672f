import type { WorkerTask } from "@imprint/contracts";
import type { Settings } from "../../config/schema.js";
import { sharing } from "../sharing.js";
import type { Resources } from "./options.js";

type Asked = Pick<Settings, "ray_cpus" | "ray_gpus" | "ray_nodes" | "ray_patience" | "processes" | "shard_base">;

/** What a job asks of a node, which takes `memory` on one process: so much for each process of a training that may have several, and of each of its nodes. */
export const resourcesOf = (
  { type }: Pick<WorkerTask, "type">,
  settings: Asked,
  memory: number | null,
  launcher: string,
): Resources => {
  const { ray_cpus, ray_gpus, ray_nodes, ray_patience, processes } = settings;
  const args = sharing(settings);
  if (type !== "train_lora" || args.length === 0) return { cpus: ray_cpus, gpus: ray_gpus, memory };
  const node = {
    cpus: processes * ray_cpus,
    gpus: processes * ray_gpus,
    memory: memory === null ? null : processes * memory,
  };
  const others = { ...node, python: launcher, patience_seconds: ray_patience };
  return { ...node, args: ["--threads", String(node.cpus), ...args], ...(ray_nodes > 1 && { nodes: others }) };
};
