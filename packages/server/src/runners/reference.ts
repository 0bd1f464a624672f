import { join } from "node:path";
import type { WorkerTask } from "@imprint/contracts";
import { type BaseModels, locateBaseModel } from "../models/base-model.js";
import type { DataPaths } from "../storage/paths.js";

/**
 * Where the files of jobs lie, wherever a runner keeps them: base models by name, adapters by id, what jobs stage and leave in
 * `staging` and `checkpoints` by job id, what evaluations measured in `measurements`; hypernetworks of one's own, and those that Imprint ships.
 */
export type Area = "models" | "adapters" | "staging" | "checkpoints" | "measurements" | "hypernetworks" | "shipped-hypernetworks";

const SCHEME = "imprint:";

/** A file or folder that a task reads or writes, by a name that means the same on every machine. */
export const reference = (area: Area, path = ""): string => `${SCHEME}${area}/${path}`;

/** Answers the path of each area's files on a machine. */
export type Places = Readonly<Record<Area, (path: string) => string>>;

const FIELDS = [
  "session_path",
  "session_paths",
  "base_model",
  "adapter_path",
  "sessions",
  "trained_on",
  "control",
  "path",
  "cache_dir",
  "output_dir",
  "hypernetworks_dirs",
  "checkpoint",
  "dir",
];

const pathOf = (text: string, places: Places): string => {
  if (!text.startsWith(SCHEME)) return text; // a hub id is good everywhere
  const slash = text.indexOf("/");
  return places[text.slice(SCHEME.length, slash) as Area](text.slice(slash + 1));
};

const resolved = (value: unknown, places: Places): unknown => {
  if (typeof value === "string") return pathOf(value, places);
  if (Array.isArray(value)) return value.map((member) => resolved(member, places));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => [field, FIELDS.includes(field) ? resolved(inner, places) : inner]),
  );
};

/** The task as a trainer of this machine takes it: with paths. Throws ImprintError BASE_MODEL_NOT_FOUND. */
export const resolveTask = (task: WorkerTask, places: Places): WorkerTask =>
  ({ ...task, spec: resolved(task.spec, places) }) as WorkerTask;

interface PlacesOptions {
  readonly paths: DataPaths;
  readonly models: BaseModels;
  /** One's own, then those that Imprint ships. */
  readonly hypernetworks: readonly [own: string, shipped: string];
}

/** Where this machine keeps what tasks refer to. */
export const localPlaces = ({ paths, models, hypernetworks: [own, shipped] }: PlacesOptions): Places => ({
  models: (name) => locateBaseModel(name, models).location,
  adapters: (path) => join(paths.adapters, path),
  staging: (path) => join(paths.staging, path),
  measurements: (path) => join(paths.measurements, path),
  checkpoints: (path) => join(paths.checkpoints, path),
  hypernetworks: (path) => join(own, path),
  "shipped-hypernetworks": (path) => join(shipped, path),
});
