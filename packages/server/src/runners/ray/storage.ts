import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, cp, lstat, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { writeAtomically } from "../../storage/durable.js";

/** What this service keeps on the shared storage: a folder that the nodes of the cluster see under the same path. */
export interface SharedStorage {
  readonly root: string;
  /** Tells this service's jobs from those of others. */
  readonly instance: string;
  readonly measurements: string;
  readonly jobs: string;
  readonly jobFolder: (job_id: string) => string;
}

export const sharedStorage = (root: string, instance: string): SharedStorage => {
  const jobs = join(root, "jobs", instance);
  return { root, instance, jobs, measurements: join(root, "measurements"), jobFolder: (job_id) => join(jobs, job_id) };
};

const isSource = (path: string): boolean => !path.endsWith("__pycache__");

/** A folder's content, as far as it can be told without reading it. */
const printOf = async (folder: string): Promise<string> => {
  const hash = createHash("sha256");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && isSource(entry.parentPath))
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.toSorted()) {
    const { size, mtimeMs } = await lstat(file);
    hash.update(`${relative(folder, file)}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest("hex").slice(0, 16);
};

/** Puts a folder that many jobs read on the shared storage, once; answers where. Whole or not there. */
export const shipOnce = async (area: string, from: string): Promise<string> => {
  if (!existsSync(from)) return from; // whoever reads it says that it is not there
  const to = join(area, `${basename(from)}-${await printOf(from)}`);
  if (existsSync(to)) return to;
  await mkdir(area, { recursive: true, mode: 0o700 });
  const part = join(area, `.${randomUUID()}`);
  try {
    await cp(from, part, { recursive: true, dereference: true, filter: isSource });
    await rename(part, to);
  } catch (error) {
    await rm(part, { recursive: true, force: true });
    if (!existsSync(to)) throw error; // else another job was faster
  }
  return to;
};

/** Copies what is there of a folder or file that one job reads. */
export const ship = async (from: string, to: string): Promise<void> => {
  if (existsSync(from)) await cp(from, to, { recursive: true, dereference: true, force: true });
};

const STATE = "checkpoint.json";

/** Brings a checkpoint back: its state last, so that a crash leaves the one before. */
export const fetchCheckpoint = async (from: string, to: string): Promise<void> => {
  if (!existsSync(join(from, STATE))) return;
  const state = await readFile(join(from, STATE));
  await mkdir(to, { recursive: true, mode: 0o700 });
  const entries = await readdir(from, { withFileTypes: true });
  for (const entry of entries.filter((one) => one.isFile() && one.name !== STATE && !one.name.startsWith(".")))
    await copyFile(join(from, entry.name), join(to, entry.name));
  await writeAtomically(join(to, STATE), state);
};

export const removeFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });
