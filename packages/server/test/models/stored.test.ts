import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BaseModelList } from "@imprint/contracts";
import { Check } from "typebox/value";
import { expect, test } from "vitest";
import { type BaseModels, linkModel, requestedBaseModel } from "../../src/models/base-model.js";
import { listBaseModels, removeBaseModel } from "../../src/models/stored.js";
import { makeFolder, makeModel } from "../support/service.js";

const CODER = "qwen2.5-coder-0.5b-instruct";

const make = (): { root: string; models: BaseModels } => {
  const root = makeFolder();
  makeModel(join(root, "set-up/known"));
  const setup = { python: "python", default_model: "known", models: { known: join(root, "set-up/known") } };
  const folders = { folder: join(root, "models"), hubCache: join(root, "hub") };
  mkdirSync(folders.folder);
  return { root, models: { fallback: "known", setup, roots: [], allowDownloads: false, ...folders } };
};

const inHub = (root: string, id: string, files: Readonly<Record<string, string>>): string => {
  const repository = join(root, "hub", `models--${id.replace("/", "--")}`);
  const snapshot = makeModel(join(repository, "snapshots/0123"), []);
  mkdirSync(join(repository, "refs"), { recursive: true });
  writeFileSync(join(repository, "refs/main"), "0123");
  for (const [name, text] of Object.entries(files)) writeFileSync(join(snapshot, name), text);
  return snapshot;
};

const CAUSAL = JSON.stringify({
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  dtype: "bfloat16",
  max_position_embeddings: 4096,
});
const listed = (models: BaseModels) => listBaseModels(models, (type) => (type === "llama" ? "llama.cpp" : "transformers"));
const named = (models: BaseModels, name: string) => listed(models).find((one) => one.name === name);

test("a model is listed with what its files say", () => {
  const { models } = make();
  const folder = makeModel(join(models.folder, "own"), ["model.safetensors"]);
  writeFileSync(join(folder, "config.json"), CAUSAL);
  const card = "---\nlanguage: en\nlicense: mit\n---\n# own\n";
  writeFileSync(join(folder, "README.md"), card);
  const size = 2 + CAUSAL.length + card.length;
  const facts = { name: "own", is_default: false, here: true, from: "data directory", licence: "mit", context_length: 4096 };
  const read = { weights: "bfloat16", engine: "llama.cpp" };
  expect(named(models, "own")).toEqual({ ...facts, ...read, size, template: null });
  const quantised = JSON.stringify({ dtype: "float16", quantization_config: { quant_method: "gptq" } });
  writeFileSync(join(folder, "config.json"), quantised);
  expect(named(models, "own")).toMatchObject({ weights: "gptq", engine: "transformers" });
  writeFileSync(join(folder, "tokenizer_config.json"), JSON.stringify({ chat_template: "{{ messages }}" }));
  expect(named(models, "own")?.template).toBe("plain");
  writeFileSync(join(folder, "chat_template.jinja"), "{% if tools %}{% endif %}");
  expect(named(models, "own")?.template).toBe("tools");
  expect(named(models, "known")).toMatchObject({ is_default: true, from: "setup", licence: null, context_length: null });
  expect(Check(BaseModelList, { models: listed(models).map((one) => ({ ...one, training: null })) })).toBe(true);
});

test("what the catalogue knows is listed with the size of its download, until it is here", () => {
  const { models } = make();
  const facts = {
    licence: "apache-2.0",
    context_length: 32768,
    template: "tools",
    size: 491_400_064,
    weights: null,
    engine: null,
  };
  expect(named(models, CODER)).toEqual({ name: CODER, is_default: false, here: false, from: "catalogue", ...facts });
  makeModel(join(models.folder, CODER));
  expect(named(models, CODER)).toMatchObject({ here: true, from: "data directory", size: 4 });
});

test("language models that the hub's library keeps whole are listed, and one that is linked by a name once", () => {
  const { root, models } = make();
  const weights = { "config.json": CAUSAL, "model.safetensors": "{}" };
  inHub(root, "me/chat", weights);
  inHub(root, "me/pictures", { ...weights, "config.json": JSON.stringify({ architectures: ["UNet"] }) });
  const index = JSON.stringify({ weight_map: { a: "model-1.safetensors", b: "model-2.safetensors" } });
  const cut = { "config.json": CAUSAL, "model.safetensors.index.json": index, "model-1.safetensors": "{}" };
  const snapshot = inHub(root, "me/cut", cut);
  const hub = () =>
    listed(models)
      .filter(({ from }) => from === "hub cache")
      .map(({ name }) => name);
  expect(hub()).toEqual(["me/chat"]);
  expect(() => requestedBaseModel("me/cut", models)).toThrow("me/cut lacks some of its weights: pull it again.");
  writeFileSync(join(snapshot, "model-2.safetensors"), "{}");
  expect(hub()).toEqual(["me/chat", "me/cut"]);
  expect(linkModel(snapshot, models.folder, "coder")).toBe(true);
  expect(hub()).toEqual(["me/chat"]);
  expect(named(models, "coder")).toMatchObject({ from: "folder", context_length: 4096 });
});

test("a removed model is gone with what a pull of it left, and a linked folder stays where it is", () => {
  const { root, models } = make();
  makeModel(join(models.folder, "own"));
  makeModel(join(models.folder, ".pull-own"));
  removeBaseModel("own", models);
  expect([existsSync(join(models.folder, "own")), existsSync(join(models.folder, ".pull-own"))]).toEqual([false, false]);
  const elsewhere = makeModel(join(root, "elsewhere/linked"));
  symlinkSync(elsewhere, join(models.folder, "linked"));
  removeBaseModel("linked", models);
  expect([existsSync(join(models.folder, "linked")), existsSync(join(elsewhere, "config.json"))]).toEqual([false, true]);
  inHub(root, "me/chat", { "config.json": CAUSAL, "model.safetensors": "{}" });
  removeBaseModel("me/chat", models);
  expect(existsSync(join(root, "hub/models--me--chat"))).toBe(false);
});

test.each([
  ["known", "BASE_MODEL_IN_USE"],
  ["own", "BASE_MODEL_IN_USE"],
  [CODER, "BASE_MODEL_NOT_FOUND"],
  ["..", "BASE_MODEL_NOT_FOUND"],
  ["../own", "BASE_MODEL_NOT_FOUND"],
])("%s is not removed: %s", (name, code) => {
  const { models } = make();
  const own = makeModel(join(models.folder, "own"));
  expect(() => removeBaseModel(name, { ...models, fallback: "own" })).toThrow(expect.objectContaining({ code }));
  expect(existsSync(own)).toBe(true);
});

test("the catalogue is the trainer's, and names the default model", () => {
  const { models } = make();
  const names = listed({ ...models, setup: null, fallback: "x" }).map(({ name }) => name);
  expect(names).toEqual(["SmolLM2-135M-Instruct", CODER, "qwen2.5-coder-1.5b-instruct"]);
});
