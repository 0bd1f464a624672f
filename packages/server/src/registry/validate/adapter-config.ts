import { readFile, stat } from "node:fs/promises";
import { Strict } from "@imprint/contracts";
import { type Static, Type } from "typebox";
import { check, InvalidAdapterError } from "./invalid.js";

const MAX_CONFIG_BYTES = 256 * 1024;

const off = Type.Optional(Type.Union([Type.Null(), Type.Literal(false)]));
const empty = Type.Optional(Type.Union([Type.Null(), Strict({})]));
const text = Type.Optional(Type.Union([Type.String({ maxLength: 512 }), Type.Null()]));

/**
 * The fields of a plain PEFT LoRA config. Anything that makes a loader import modules, change its tokenizer or build another
 * kind of adapter (`auto_mapping`, `megatron_config`, `tokenizer_kwargs`, DoRA...) may only be absent or off.
 */
export const AdapterConfig = Strict({
  peft_type: Type.Literal("LORA"),
  r: Type.Integer({ minimum: 1, maximum: 256 * 8 }),
  lora_alpha: Type.Number({ exclusiveMinimum: 0, maximum: 1e6 }),
  target_modules: Type.Array(Type.String({ pattern: "^[A-Za-z0-9_.]{1,256}$" }), { minItems: 1, maxItems: 4096 }),
  bias: Type.Literal("none"),
  task_type: Type.Optional(Type.Union([Type.Literal("CAUSAL_LM"), Type.Null()])),
  base_model_name_or_path: text,
  revision: text,
  peft_version: text,
  inference_mode: Type.Optional(Type.Boolean()),
  lora_dropout: Type.Optional(Type.Number({ minimum: 0, exclusiveMaximum: 1 })),
  fan_in_fan_out: Type.Optional(Type.Boolean()),
  init_lora_weights: Type.Optional(Type.Boolean()),
  use_rslora: Type.Optional(Type.Boolean()),
  // An adapter of some blocks only, as hypernetworks make it.
  layers_to_transform: Type.Optional(
    Type.Union([Type.Array(Type.Integer({ minimum: 0, maximum: 4096 }), { minItems: 1, maxItems: 4096 }), Type.Null()]),
  ),
  layers_pattern: Type.Optional(Type.Union([Type.Literal("layers"), Type.Null(), Type.Literal(false)])),
  // PEFT writes these whether they are used or not; inert while megatron_config and use_qalora are off.
  megatron_core: Type.Optional(Type.Union([Type.Literal("megatron.core"), Type.Null()])),
  qalora_group_size: Type.Optional(Type.Integer()),
  rank_pattern: empty,
  alpha_pattern: empty,
  loftq_config: empty,
  alora_invocation_tokens: off,
  arrow_config: off,
  auto_mapping: off,
  corda_config: off,
  ensure_weight_tying: off,
  eva_config: off,
  exclude_modules: off,
  kasa_config: off,
  layer_replication: off,
  lora_bias: off,
  lora_ga_config: off,
  megatron_config: off,
  modules_to_save: off,
  monteclora_config: off,
  target_parameters: off,
  trainable_token_indices: off,
  use_bdlora: off,
  use_dora: off,
  use_qalora: off,
  velora_config: off,
});
export type AdapterConfig = Static<typeof AdapterConfig>;

/** @throws InvalidAdapterError */
export const readAdapterConfig = async (path: string): Promise<AdapterConfig> => {
  if ((await stat(path)).size > MAX_CONFIG_BYTES) throw new InvalidAdapterError("adapter_config.json is too large");
  let config: unknown;
  try {
    config = JSON.parse(await readFile(path, "utf8"));
  } catch {
    throw new InvalidAdapterError("adapter_config.json is not JSON");
  }
  return check(AdapterConfig, config, "adapter_config.json");
};
