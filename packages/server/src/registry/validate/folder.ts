import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { AdapterFile } from "@imprint/contracts";
import { type AdapterConfig, readAdapterConfig } from "./adapter-config.js";
import { hashFile } from "./hash.js";
import { InvalidAdapterError } from "./invalid.js";
import { readSafetensorsHeader, type Tensor } from "./safetensors.js";

const KEY = /^base_model\.model\.([A-Za-z0-9_.]{1,256})\.lora_([AB])\.weight$/;

const matches = (module: string, target: string): boolean => module === target || module.endsWith(`.${target}`);

const pairUp = (tensors: readonly Tensor[]): ReadonlyMap<string, { readonly A?: Tensor; readonly B?: Tensor }> => {
  const pairs = new Map<string, { readonly A?: Tensor; readonly B?: Tensor }>();
  for (const tensor of tensors) {
    const [, module, side] = KEY.exec(tensor.name) ?? [];
    if (module === undefined || side === undefined) throw new InvalidAdapterError(`tensor ${tensor.name} is no LoRA weight`);
    pairs.set(module, { ...pairs.get(module), [side]: tensor });
  }
  return pairs;
};

/**
 * Checks that the tensors are exactly the LoRA pairs that the config promises: A [r, d_in] and B [d_out, r] of each target module.
 * @throws InvalidAdapterError
 */
const checkLoraKeys = (tensors: readonly Tensor[], config: AdapterConfig): void => {
  const pairs = pairUp(tensors);
  if (pairs.size === 0) throw new InvalidAdapterError("the adapter holds no tensors");
  for (const [module, { A, B }] of pairs) {
    if (!A || !B) throw new InvalidAdapterError(`module ${module} has only one of lora_A and lora_B`);
    if (A.shape.length !== 2 || B.shape.length !== 2 || A.shape[0] !== config.r || B.shape[1] !== config.r)
      throw new InvalidAdapterError(`module ${module} has shapes [${A.shape}] and [${B.shape}], not rank ${config.r}`);
    if (!config.target_modules.some((target) => matches(module, target)))
      throw new InvalidAdapterError(`module ${module} is not among target_modules`);
  }
  for (const target of config.target_modules)
    if (![...pairs.keys()].some((module) => matches(module, target)))
      throw new InvalidAdapterError(`target module ${target} has no tensors`);
};

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
