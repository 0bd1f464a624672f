import { existsSync } from "node:fs";
import { join } from "node:path";
import type { WorkerTask } from "@imprint/contracts";
import { type Area, type Places, resolveTask } from "../reference.js";
import { type SharedStorage, shipOnce } from "./storage.js";

interface ShipOptions {
  readonly task: WorkerTask;
  /** Where this machine keeps what the task refers to; null: the task names paths that the cluster sees too. */
  readonly places: Places | null;
  readonly storage: SharedStorage;
  /** The attempt's, by its name there. */
  readonly folder: string;
}

/** A task as the cluster gets it, and the names of what it reads beside the attempt's own folder. */
export interface Shipped {
  readonly task: WorkerTask;
  readonly needs: readonly string[];
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
export const shipTask = async ({ task, places, storage, folder }: ShipOptions): Promise<Shipped> => {
  const { store, onNodes } = storage;
  const { checkpoint } = resultsOf(task, places);
  if (checkpoint !== null) await store.putTree(checkpoint, `${folder}/checkpoint`);
  const own = resuming(leaving(task, onNodes(folder)), checkpoint);
  if (places === null) return { task: own, needs: [] };
  const needs = new Set<string>();

  const putOnce = async (area: string, from: string): Promise<string> => {
    if (!existsSync(from)) return from; // a hub id is good everywhere; of what else is missing, whoever reads it says so
    const name = await shipOnce(store, area, from);
    needs.add(name);
    return onNodes(name);
  };

  const put = async (area: Area, path: string): Promise<string> => {
    if (area === "measurements") {
      await store.makeFolder("measurements");
      return onNodes(`measurements/${path}`);
    }
    const from = places[area](path);
    if (area === "models") return putOnce("models", from);
    if (area.endsWith("hypernetworks")) return putOnce("hypernetworks", from);
    const name = `${folder}/${area}/${path}`;
    await store.putTree(from, name);
    return onNodes(name);
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
  const shipped = resolveTask(
    own,
    placesOf((area, path) => there.get(keyOf(area, path)) ?? path),
  );
  return { task: shipped, needs: [...needs] };
};
