import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { AdapterFile } from "@imprint/contracts";
import { type AdapterConfig, readAdapterConfig } from "./adapter-config.js";
import { hashFile } from "./hash.js";
import { InvalidAdapterError } from "./invalid.js";
import { checkLoraKeys } from "./lora-keys.js";
import { readSafetensorsHeader } from "./safetensors.js";

export const WEIGHTS_FILE = "adapter_model.safetensors";
export const CONFIG_FILE = "adapter_config.json";

/** No pickles, no code: only what the trainer has reason to write. */
const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,100}\.(?:safetensors|json|jsonl|md|txt)$/;

/** What an export may hold besides. */
export const EXPORT_FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,100}\.(?:safetensors|json|md|txt|jinja|model|gguf)$/;

/**
 * Hashes every file of a folder, in the order of their names; those that did not change since the last time only when `again`.
 * @throws InvalidAdapterError when something stands there that is no plain file of a known kind
 */
export const hashFolder = async (
  folder: string,
  { allowed = FILE_NAME, again = false }: { readonly allowed?: RegExp; readonly again?: boolean } = {},
): Promise<readonly AdapterFile[]> => {
  const entries = (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
  const files: AdapterFile[] = [];
  for (const entry of entries) {
    if (!entry.isFile() || !allowed.test(entry.name))
      throw new InvalidAdapterError(`${JSON.stringify(entry.name)} is no file of an adapter`);
    const { size, sha256 } = await hashFile(join(folder, entry.name), { again });
    files.push({ name: entry.name, size, sha256 });
  }
  return files;
};

/**
 * Reads the headers of an adapter's files and checks that config and tensors agree.
 * @throws InvalidAdapterError
 */
export const validateFolder = async (folder: string, files: readonly AdapterFile[]): Promise<AdapterConfig> => {
  for (const name of [CONFIG_FILE, WEIGHTS_FILE])
    if (!files.some((file) => file.name === name)) throw new InvalidAdapterError(`${name} is missing`);
  const config = await readAdapterConfig(join(folder, CONFIG_FILE));
  checkLoraKeys(await readSafetensorsHeader(join(folder, WEIGHTS_FILE)), config);
  return config;
};
