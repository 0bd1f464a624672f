import type { WorkerTask } from "@imprint/contracts";

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
