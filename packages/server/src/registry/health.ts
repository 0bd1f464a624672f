import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { type Adapter, type AdapterFile, type AdapterHealth, verdictOf } from "@imprint/contracts";
import { ImprintError, isMissing, nullIfMissing } from "../common/error.js";
import { createKeyedLock, type KeyedLock } from "../common/keyed-lock.js";
import type { DataPaths } from "../storage/paths.js";
import type { Database } from "../storage/schema.js";
import { inTransaction } from "../storage/transaction.js";
import { type AdapterRow, findAdapter } from "./adapters.js";
import { hashFolder, validateFolder } from "./validate/folder.js";
import { InvalidAdapterError } from "./validate/invalid.js";

export interface Registry {
  readonly database: Database;
  readonly paths: DataPaths;
}

/** Null when there is nothing; NaN for what is no regular file, which equals no recorded size. */
const sizeOf = (path: string): Promise<number | null> =>
  lstat(path).then((entry) => (entry.isFile() ? entry.size : Number.NaN), nullIfMissing);

const withHealth = (adapter: AdapterRow, health: AdapterHealth): Adapter => ({
  ...adapter,
  verdict: verdictOf(adapter.proof),
  health,
});

/** By folders of adapters: held while their files change, until the row says so or they are as they were. */
export const changingFiles: KeyedLock = createKeyedLock();

export const homeOf = ({ root }: DataPaths, { path }: AdapterRow): string => join(root, path);

/** Looks again, by the present row, where an evaluation may have changed the adapter's files meanwhile. */
const lookAtPresent = async (
  { database, paths }: Registry,
  adapter: AdapterRow,
  look: (adapter: AdapterRow) => Promise<Adapter>,
): Promise<Adapter> => {
  const seen = await look(adapter);
  if (seen.health === "ok") return seen;
  return changingFiles([homeOf(paths, adapter)], async () =>
    look((await inTransaction(database, (db) => findAdapter(db, adapter.adapter_id))) ?? adapter),
  );
};

const glance = async ({ paths }: Registry, adapter: AdapterRow): Promise<Adapter> => {
  const found = await Promise.all(adapter.files.map(({ name }) => sizeOf(join(homeOf(paths, adapter), name))));
  const health = found.some((size) => size === null)
    ? "missing"
    : found.every((size, at) => size === adapter.files[at]?.size)
      ? "ok"
      : "corrupt";
  return withHealth(adapter, health);
};

/** Compares presence and sizes: cheap enough for lists. An altered file of the same size shows only in `verifyAdapter`. */
export const glanceAtAdapter = (registry: Registry, adapter: AdapterRow): Promise<Adapter> =>
  lookAtPresent(registry, adapter, (row) => glance(registry, row));

const healthOf = (recorded: readonly AdapterFile[], hashed: readonly AdapterFile[]): AdapterHealth => {
  const found = recorded.map(({ name }) => hashed.find((file) => file.name === name));
  if (found.includes(undefined)) return "missing";
  return found.every((file, at) => file?.sha256 === recorded[at]?.sha256) ? "ok" : "corrupt";
};

const verify = async ({ paths }: Registry, adapter: AdapterRow, options: { readonly again?: boolean }): Promise<Adapter> => {
  const folder = homeOf(paths, adapter);
  try {
    const hashed = await hashFolder(folder, options);
    const health = healthOf(adapter.files, hashed);
    if (health === "ok") await validateFolder(folder, hashed);
    return withHealth(adapter, health);
  } catch (error) {
    if (error instanceof InvalidAdapterError) return withHealth(adapter, "corrupt");
    if (isMissing(error)) return withHealth(adapter, "missing");
    throw error;
  }
};

/** Hashes the files, those that did not change since the last time only when `again`, and reads the headers. */
export const verifyAdapter = (
  registry: Registry,
  adapter: AdapterRow,
  options: { readonly again?: boolean } = {},
): Promise<Adapter> => lookAtPresent(registry, adapter, (row) => verify(registry, row, options));

/**
 * The folder of an adapter whose files are what was registered: asked before weights are attached, exported or handed out.
 * @throws ImprintError ADAPTER_INVALID
 */
export const requireWhole = async (registry: Registry, adapter: AdapterRow): Promise<string> => {
  const { health, adapter_id } = await verifyAdapter(registry, adapter);
  if (health !== "ok") throw new ImprintError("ADAPTER_INVALID", `The files of the adapter ${adapter_id} are ${health}.`);
  return homeOf(registry.paths, adapter);
};
