import type { WorkerTask } from "@imprint/contracts";
import type { Settings } from "../../config/schema.js";
import { sharing } from "../sharing.js";
import type { Resources } from "./options.js";

/** What a job asks of one node, which takes `memory` on one process: so much for each process of a training that may have several. */
export const resourcesOf = (
  { type }: Pick<WorkerTask, "type">,
  settings: Pick<Settings, "ray_cpus" | "ray_gpus" | "processes" | "shard_base">,
  memory: number | null,
): Resources => {
  const { ray_cpus, ray_gpus, processes } = settings;
  if (type !== "train_lora" || processes === 1) return { cpus: ray_cpus, gpus: ray_gpus, memory };
  const cpus = processes * ray_cpus;
  return {
    cpus,
    gpus: processes * ray_gpus,
    memory: memory === null ? null : processes * memory,
    args: ["--threads", String(cpus), ...sharing(settings)],
  };
};
