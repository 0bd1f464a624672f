import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CONFIG_FILE, hashFolder, validateFolder, WEIGHTS_FILE } from "../../../src/registry/validate/folder.js";
import { InvalidAdapterError } from "../../../src/registry/validate/invalid.js";
import { makeFolder } from "../../support/service.js";
import { type Header, makeAdapterFolder, RANK, rewrite, withHeader } from "./adapter-folder.js";

const A = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight";
const B = "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight";

const validate = async (folder: string) => validateFolder(folder, await hashFolder(folder));

test("a plain LoRA adapter is accepted", async () => {
  const folder = makeFolder();
  await makeAdapterFolder(folder);
  expect(await validate(folder)).toMatchObject({ r: RANK, target_modules: ["q_proj", "v_proj"] });
});

type Entry = Header[string];

/** Changes one tensor's entry. */
const entry =
  (key: string, change: (tensor: Entry) => object) =>
  (header: Header): object => ({ ...header, [key]: { ...header[key], ...change(header[key] as Entry) } });

const moved = (first: number, last: number) => (tensor: Entry) => ({
  data_offsets: [tensor.data_offsets[0] + first, tensor.data_offsets[1] + last],
});

test.each<[string, (header: Header) => unknown, RegExp]>([
  ["an offset behind the end", entry(B, moved(0, 1e9)), /spans/],
  ["a gap", entry(A, moved(4, 0)), /starts at 4, expected 0/],
  ["an overlap", entry(B, moved(-4, 0)), /expected/],
  ["a shape that needs more", entry(A, () => ({ shape: [RANK, 9] })), /its shape needs/],
  ["another dtype", entry(A, () => ({ dtype: "F16" })), /its shape needs/],
  ["an unknown dtype", entry(A, () => ({ dtype: "PICKLE" })), /tensor/],
  ["a negative offset", entry(A, moved(-4, 0)), /tensor/],
  ["a field of its own", entry(A, () => ({ code: "x" })), /tensor/],
  ["metadata that is no text", (header) => ({ ...header, __metadata__: { a: 1 } }), /__metadata__/],
  ["a list", () => [], /no object/],
  ["no tensors", () => ({}), /span 0 bytes/],
  [
    "a key that is no LoRA weight",
    (header) => Object.fromEntries(Object.entries(header).map(([key, value]) => [key.replace("lora_A", "magnitude"), value])),
    /no LoRA weight/,
  ],
  [
    "a module that is no target",
    (header) => Object.fromEntries(Object.entries(header).map(([key, value]) => [key.replace("q_proj", "k_proj"), value])),
    /not among target_modules/,
  ],
  [
    "a rank that is not the config's",
    (header) => {
      for (const [key, tensor] of Object.entries(header))
        if (key.includes("lora_")) tensor.shape = tensor.shape.map((size) => (size === RANK ? 8 : RANK));
    },
    /not rank 4/,
  ],
])("a safetensors header with %s is refused", async (_case, change, message) => {
  const folder = makeFolder();
  rewrite(folder, await makeAdapterFolder(folder), WEIGHTS_FILE, withHeader(change));
  await expect(validate(folder)).rejects.toThrow(InvalidAdapterError);
  await expect(validate(folder)).rejects.toThrow(message);
});

test("tensors may be named in another order than their data's", async () => {
  const folder = makeFolder();
  const backwards = withHeader((header) => Object.fromEntries(Object.entries(header).toReversed()));
  rewrite(folder, await makeAdapterFolder(folder), WEIGHTS_FILE, backwards);
  expect(await validate(folder)).toMatchObject({ r: RANK });
});

test.each([
  ["empty", () => Buffer.alloc(0)],
  ["cut off in the length", (content: Buffer) => content.subarray(0, 5)],
  ["cut off in the header", (content: Buffer) => content.subarray(0, 40)],
  ["cut off in the data", (content: Buffer) => content.subarray(0, content.length - 1)],
  ["longer than its tensors", (content: Buffer) => Buffer.concat([content, Buffer.alloc(4)])],
  ["claiming an enormous header", (content: Buffer) => Buffer.concat([Buffer.alloc(8, 0xff), content.subarray(8)])],
])("a safetensors file that is %s is refused", async (_case, change) => {
  const folder = makeFolder();
  rewrite(folder, await makeAdapterFolder(folder), WEIGHTS_FILE, change);
  await expect(validate(folder)).rejects.toThrow(InvalidAdapterError);
});

/** `FUZZ_RUNS=100000` flips more. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 200);

test("no flipped byte of a header crashes the reader or grows a tensor beyond its file", {
  timeout: 20_000 + RUNS * 5,
}, async () => {
  const folder = makeFolder();
  const result = await makeAdapterFolder(folder);
  let original = Buffer.alloc(0);
  rewrite(folder, result, WEIGHTS_FILE, (content) => {
    original = Buffer.from(content);
    return content;
  });
  const headerEnd = 8 + Number(original.readBigUInt64LE());
  await fc.assert(
    fc.asyncProperty(fc.nat(headerEnd - 1), fc.integer({ min: 1, max: 255 }), async (position, mask) => {
      const damaged = Buffer.from(original);
      damaged[position] = (damaged[position] ?? 0) ^ mask;
      writeFileSync(join(folder, WEIGHTS_FILE), damaged);
      const error: unknown = await validate(folder).catch((thrown: unknown) => thrown);
      if (error instanceof Error) expect(error).toBeInstanceOf(InvalidAdapterError);
    }),
    { numRuns: RUNS },
  );
});

test.each<[string, object]>([
  ["auto_mapping", { auto_mapping: { parent_library: "os" } }],
  ["megatron_config", { megatron_config: { a: 1 } }],
  ["megatron_core", { megatron_core: "os" }],
  ["tokenizer_kwargs", { tokenizer_kwargs: { trust_remote_code: true } }],
  ["trust_remote_code", { trust_remote_code: true }],
  ["peft_type", { peft_type: "LOHA" }],
  ["use_dora", { use_dora: true }],
  ["modules_to_save", { modules_to_save: ["lm_head"] }],
  ["rank_pattern", { rank_pattern: { "(a+)+$": 4 } }],
  ["target_modules", { target_modules: "(a+)+$" }],
  ["target_modules", { target_modules: ["(a+)+$"] }],
  ["target_modules", { target_modules: ["q_proj", "v_proj", "o_proj"] }],
  ["r", { r: 0 }],
  ["r", { r: 1e9 }],
  ["bias", { bias: "all" }],
  ["layers_pattern", { layers_pattern: "(a+)+$" }],
  ["layers_to_transform", { layers_to_transform: [-1] }],
])("adapter_config.json with %s %j is refused", async (_field, change) => {
  const folder = makeFolder();
  rewrite(folder, await makeAdapterFolder(folder), CONFIG_FILE, (content) =>
    JSON.stringify({ ...(JSON.parse(content.toString()) as object), ...change }),
  );
  await expect(validate(folder)).rejects.toThrow(InvalidAdapterError);
});

test("every field that PEFT writes for a plain LoRA, or one of some blocks, is accepted", async () => {
  const folder = makeFolder();
  const inert = {
    auto_mapping: null,
    peft_version: "0.21.2",
    revision: null,
    exclude_modules: null,
    use_rslora: false,
    modules_to_save: null,
    rank_pattern: {},
    alpha_pattern: {},
    megatron_config: null,
    megatron_core: "megatron.core",
    loftq_config: {},
    use_dora: false,
    use_qalora: false,
    qalora_group_size: 16,
    lora_bias: false,
    ensure_weight_tying: false,
    layers_to_transform: [0],
    layers_pattern: "layers",
  };
  rewrite(folder, await makeAdapterFolder(folder), CONFIG_FILE, (content) =>
    JSON.stringify({ ...(JSON.parse(content.toString()) as object), ...inert }),
  );
  await expect(validate(folder)).resolves.toBeDefined();
});

test.each(["adapter_model.bin", "training_args.bin", "optimizer.pt", "rng_state.pth", "tokenizer.pkl", "run.py", ".hidden.json"])(
  "a folder that holds %s is refused",
  async (name) => {
    const folder = makeFolder();
    await makeAdapterFolder(folder);
    writeFileSync(join(folder, name), "canary");
    await expect(validate(folder)).rejects.toThrow(name);
  },
);

test("links and folders inside an adapter are refused, and so is a missing file", async () => {
  const folder = makeFolder();
  await makeAdapterFolder(folder);
  symlinkSync("/etc/hostname", join(folder, "notes.txt"));
  await expect(validate(folder)).rejects.toThrow("notes.txt");
  rmSync(join(folder, "notes.txt"));
  mkdirSync(join(folder, "more.json"));
  await expect(validate(folder)).rejects.toThrow("more.json");
  rmSync(join(folder, "more.json"), { recursive: true });
  rmSync(join(folder, CONFIG_FILE));
  await expect(validate(folder)).rejects.toThrow("adapter_config.json is missing");
});
