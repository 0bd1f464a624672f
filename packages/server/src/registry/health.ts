import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { type Adapter, type AdapterFile, type AdapterHealth, verdictOf } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import type { DataPaths } from "../storage/paths.js";
import type { AdapterRow } from "./adapters.js";
import { hashFolder, validateFolder } from "./validate/folder.js";
import { InvalidAdapterError } from "./validate/invalid.js";

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");

/** Null when there is nothing; NaN for what is no regular file, which equals no recorded size. */
const sizeOf = async (path: string): Promise<number | null> => {
  try {
    const entry = await lstat(path);
    return entry.isFile() ? entry.size : Number.NaN;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
};

const withHealth = (adapter: AdapterRow, health: AdapterHealth): Adapter => ({
  ...adapter,
  verdict: verdictOf(adapter.proof),
  health,
});

/** Compares presence and sizes: cheap enough for lists. An altered file of the same size shows only in `verifyAdapter`. */
export const glanceAtAdapter = async (paths: DataPaths, adapter: AdapterRow): Promise<Adapter> => {
  const found = await Promise.all(adapter.files.map(({ name }) => sizeOf(join(paths.root, adapter.path, name))));
  const health = found.some((size) => size === null)
    ? "missing"
    : found.every((size, at) => size === adapter.files[at]?.size)
      ? "ok"
      : "corrupt";
  return withHealth(adapter, health);
};

const healthOf = (recorded: readonly AdapterFile[], hashed: readonly AdapterFile[]): AdapterHealth => {
  const found = recorded.map(({ name }) => hashed.find((file) => file.name === name));
  if (found.includes(undefined)) return "missing";
  return found.every((file, at) => file?.sha256 === recorded[at]?.sha256) ? "ok" : "corrupt";
};

/** Hashes the files, those that did not change since the last time only when `again`, and reads the headers. */
export const verifyAdapter = async (
  paths: DataPaths,
  adapter: AdapterRow,
  options: { readonly again?: boolean } = {},
): Promise<Adapter> => {
  const folder = join(paths.root, adapter.path);
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

/**
 * The folder of an adapter whose files are what was registered: asked before weights are attached, exported or handed out.
 * @throws ImprintError ADAPTER_INVALID
 */
export const requireWhole = async (paths: DataPaths, adapter: AdapterRow): Promise<string> => {
  const { health, adapter_id } = await verifyAdapter(paths, adapter);
  if (health !== "ok") throw new ImprintError("ADAPTER_INVALID", `The files of the adapter ${adapter_id} are ${health}.`);
  return join(paths.root, adapter.path);
};
