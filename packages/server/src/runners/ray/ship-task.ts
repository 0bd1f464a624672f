import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { WorkerTask } from "@imprint/contracts";
import { type Area, type Places, resolveTask } from "../reference.js";
import { type SharedStorage, ship, shipOnce } from "./storage.js";

interface ShipOptions {
  readonly task: WorkerTask;
  /** Where this machine keeps what the task refers to; null: the task names paths that the cluster sees too. */
  readonly places: Places | null;
  readonly storage: SharedStorage;
  /** The attempt's. */
  readonly folder: string;
}

/** Where this machine keeps what a job leaves. */
export interface Results {
  readonly output: string;
  readonly checkpoint: string | null;
}

const AREAS: readonly Area[] = [
  "models",
  "adapters",
  "staging",
  "checkpoints",
  "measurements",
  "hypernetworks",
  "shipped-hypernetworks",
];
const placesOf = (answer: (area: Area, path: string) => string): Places =>
  Object.fromEntries(AREAS.map((area) => [area, (path: string) => answer(area, path)])) as Places;

export const resultsOf = (task: WorkerTask, places: Places | null): Results => {
  const { type, spec } = places ? resolveTask(task, places) : task;
  return { output: spec.output_dir, checkpoint: type === "train_lora" ? spec.checkpoint.dir : null };
};

/** What an attempt leaves, it leaves in its own folder. */
const leaving = (task: WorkerTask, folder: string): WorkerTask => {
  const output_dir = join(folder, "output");
  if (task.type !== "train_lora") return { ...task, spec: { ...task.spec, output_dir } } as unknown as WorkerTask;
  const { checkpoint } = task.spec;
  return { ...task, spec: { ...task.spec, output_dir, checkpoint: { ...checkpoint, dir: join(folder, "checkpoint") } } };
};

/** Goes on from what an earlier attempt left. */
const resuming = (task: WorkerTask, checkpoint: string | null): WorkerTask =>
  task.type === "train_lora" &&
  task.spec.checkpoint.start === "fresh" &&
  checkpoint !== null &&
  existsSync(join(checkpoint, "checkpoint.json"))
    ? { ...task, spec: { ...task.spec, checkpoint: { ...task.spec.checkpoint, start: "resume" } } }
    : task;

/** Puts all that a task reads on the shared storage, and turns its references into paths there. */
export const shipTask = async ({ task, places, storage, folder }: ShipOptions): Promise<WorkerTask> => {
  const { checkpoint } = resultsOf(task, places);
  if (checkpoint !== null) await ship(checkpoint, join(folder, "checkpoint"));
  const own = resuming(leaving(task, folder), checkpoint);
  if (places === null) return own;

  const put = async (area: Area, path: string): Promise<string> => {
    if (area === "measurements") {
      await mkdir(storage.measurements, { recursive: true, mode: 0o700 });
      return join(storage.measurements, path);
    }
    const from = places[area](path);
    if (area === "models") return existsSync(from) ? shipOnce(join(storage.root, "models"), from) : from; // a hub id is good everywhere
    if (area.endsWith("hypernetworks")) return shipOnce(join(storage.root, "hypernetworks"), from);
    const to = join(folder, area, path);
    await ship(from, to);
    return to;
  };

  const wanted = new Map<string, readonly [Area, string]>();
  const keyOf = (area: Area, path: string): string => `${area}/${path}`;
  resolveTask(
    own,
    placesOf((area, path) => {
      wanted.set(keyOf(area, path), [area, path]);
      return path;
    }),
  );
  const there = new Map<string, string>();
  for (const [key, [area, path]] of wanted) there.set(key, await put(area, path));
  return resolveTask(
    own,
    placesOf((area, path) => there.get(keyOf(area, path)) ?? path),
  );
};
