import type { AdapterConfig } from "./adapter-config.js";
import { InvalidAdapterError } from "./invalid.js";
import type { Tensor } from "./safetensors.js";

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
export const checkLoraKeys = (tensors: readonly Tensor[], config: AdapterConfig): void => {
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
