import { randomBytes } from "node:crypto";
import { createWriteStream, readFileSync, renameSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { writeAtomically } from "../../storage/durable.js";
import { printOf, type Store } from "./stores/store.js";

/** What this service keeps on the shared storage. */
export interface SharedStorage {
  readonly store: Store;
  /** Tells this service's jobs from those of others. */
  readonly instance: string;
  /** The folder of this service's jobs. */
  readonly jobs: string;
  readonly jobFolder: (job_id: string) => string;
  /** What the nodes call a file or folder of it. */
  readonly onNodes: (name: string) => string;
}

export const sharedStorage = (store: Store, instance: string): SharedStorage => {
  const jobs = `jobs/${instance}`;
  return { store, instance, jobs, jobFolder: (job_id) => `${jobs}/${job_id}`, onNodes: (name) => join(store.onNodes, name) };
};

/** Puts a folder that many jobs read on the shared storage, once; answers its name there. */
export const shipOnce = async (store: Store, area: string, from: string): Promise<string> => {
  const name = `${area}/${basename(from)}-${await printOf(from)}`;
  await store.putOnce(from, name);
  return name;
};

const STATE = "checkpoint.json";

/** Brings a checkpoint back: its state last, so that a crash leaves the one before. */
export const fetchCheckpoint = async (store: Store, name: string, to: string): Promise<void> => {
  const state = await store.read(`${name}/${STATE}`);
  if (state === null) return;
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const file of await store.list(name)) {
    if (file === STATE || file.startsWith(".")) continue;
    const content = await store.open(`${name}/${file}`);
    if (content !== null) await pipeline(content, createWriteStream(join(to, file), { mode: 0o600 }));
  }
  await writeAtomically(join(to, STATE), state);
};

const read = (file: string): string | null => {
  try {
    const text = readFileSync(file, "utf8").trim();
    return /^[0-9a-f]{12}$/.test(text) ? text : null;
  } catch {
    return null;
  }
};

/** What tells the jobs of this data directory from those of others on the same cluster; made once. */
export const instanceOf = (dataDir: string): string => {
  const file = join(dataDir, "instance");
  const known = read(file);
  if (known !== null) return known;
  const made = randomBytes(6).toString("hex");
  const whole = `${file}.${made}`;
  writeFileSync(whole, `${made}\n`, { mode: 0o600 });
  renameSync(whole, file);
  return made;
};
