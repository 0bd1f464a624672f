import { chmodSync, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { asImprintError, ConfigError, codeOf, whyNotWritten } from "../common/error.js";

/** Where things lie in the data directory. Every name below is an id that its schema has matched. */
export interface DataPaths {
  readonly root: string;
  readonly database: string;
  readonly sessions: string;
  /** Where sessions are until they are imported as a whole. */
  readonly incoming: string;
  readonly adapters: string;
  readonly exports: string;
  readonly staging: string;
  /** Folders of adapters without a row. */
  readonly leftovers: string;
  /** Evaluations that are whole, on their way beside the proofs of their adapters. */
  readonly evaluated: string;
  /** Finished measurements of evaluations: can be deleted, and are measured again. */
  readonly measurements: string;
  readonly checkpoints: string;
  readonly uploads: string;
  /** What jobs were asked that waited when the service stopped. */
  readonly unstarted: string;
  readonly models: string;
  readonly hypernetworks: string;
  /** Bases as llama.cpp reads them: can be deleted, and are made again. */
  readonly gguf: string;
  /** The trainer's: what the files of base models hash to. */
  readonly digests: string;
  readonly serverFile: string;
}

export const dataPaths = (root: string): DataPaths => ({
  root,
  database: join(root, "registry.db"),
  sessions: join(root, "sessions"),
  incoming: join(root, "incoming"),
  adapters: join(root, "adapters"),
  exports: join(root, "exports"),
  staging: join(root, "adapters", ".staging"),
  leftovers: join(root, "adapters", ".orphans"),
  evaluated: join(root, "adapters", ".evaluated"),
  measurements: join(root, "measurements"),
  checkpoints: join(root, "checkpoints"),
  uploads: join(root, "uploads"),
  unstarted: join(root, "unstarted.json"),
  models: join(root, "models"),
  hypernetworks: join(root, "hypernetworks"),
  gguf: join(root, "gguf"),
  digests: join(root, "digests.json"),
  serverFile: join(root, "server.json"),
});

/**
 * Makes a folder that only its owner reads, unless another mode is given, with those above it, unless it is there.
 * mkdir's own `recursive` never ends where the system lets nothing be made, as below /proc (Node 20).
 */
export const makeFolder = (folder: string, mode = 0o700): void => {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    const parent = dirname(folder);
    if (codeOf(error) !== "ENOENT" || existsSync(parent)) throw error;
    makeFolder(parent, mode);
    mkdirSync(folder, { mode });
  }
};

/**
 * Creates what is missing, and closes the data directory to other users.
 * @throws ConfigError when it cannot be made or written
 */
export const ensureDataPaths = (paths: DataPaths): void => {
  const { database: _file, leftovers: _later, unstarted: _jobs, digests: _trainers, serverFile: _live, ...folders } = paths;
  const { root } = folders;
  try {
    for (const folder of Object.values(folders)) makeFolder(folder);
    chmodSync(root, 0o700);
  } catch (error) {
    throw unusableDataDirectory(root, error);
  }
};

/** Why the service cannot work on a data directory, as a setting that its user can change. */
export const unusableDataDirectory = (root: string, cause: unknown): ConfigError => {
  const full = asImprintError(cause).code === "DISK_FULL" ? "Free space, or choose" : "Choose";
  return new ConfigError([
    `The data directory ${root} cannot be used: ${whyNotWritten(cause)}. ${full} another with --data-dir or IMPRINT_DATA_DIR.`,
  ]);
};
