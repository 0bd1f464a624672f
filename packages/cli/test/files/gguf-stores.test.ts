import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { findRepoRoot } from "@imprint/server/configuration";
import { expect, it, onTestFinished } from "vitest";
import { calledAs, FAMILIES, familyOf, foundGguf, foundGgufs } from "../../src/files/gguf-stores.js";
import { gguf, ollamaModel } from "../support/gguf-stores.js";

const home = (): string => {
  const folder = mkdtempSync(path.join(tmpdir(), "imprint-stores-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const namesIn = (folder: string, env = {}): readonly string[] => foundGgufs(env, folder).map(({ name }) => name);

it("finds Ollama's models by their manifests, old and new", () => {
  const at = home();
  const root = path.join(at, ".ollama", "models");
  ollamaModel(root, "manifests/registry.ollama.ai/library/qwen3/0.6b", gguf("qwen3"));
  ollamaModel(root, "manifests-v2/registry.ollama.ai/library/llama3.2/latest", gguf("llama"));
  ollamaModel(root, "manifests/registry.ollama.ai/me/tuned/v1", gguf("granite"));
  ollamaModel(root, "manifests/hf.co/them/small-GGUF/Q4_K_M", gguf("gemma3"));
  ollamaModel(root, "manifests/registry.ollama.ai/me/adapted/latest", gguf("qwen2"), { adapter: true });
  ollamaModel(root, "manifests/registry.ollama.ai/library/gone/latest", null);
  writeFileSync(path.join(root, "manifests", "registry.ollama.ai", "library", "qwen3", "broken"), "{");
  expect(namesIn(at)).toEqual([
    "ollama:hf.co/them/small-GGUF:Q4_K_M",
    "ollama:qwen3:0.6b",
    "ollama:me/tuned:v1",
    "ollama:llama3.2:latest",
  ]);
  const found = foundGgufs({}, at);
  const latest = foundGguf("ollama:llama3.2", found);
  expect(latest?.file).toMatch(/blobs.sha256-[0-9a-f]{64}$/);
  expect(found.map(calledAs)).toEqual(["small-GGUF-Q4_K_M", "qwen3-0.6b", "tuned-v1", "llama3.2"]);
  expect(found.map(({ file }) => familyOf(file))).toEqual(["gemma3", "qwen3", "granite", "llama"]);
  expect(namesIn(home(), { OLLAMA_MODELS: root })).toHaveLength(4);
});

it("finds LM Studio's files in its two folders, without projectors and parts", () => {
  const at = home();
  for (const place of [
    ".lmstudio/models/us/ocelot/ocelot-q4_0.gguf",
    ".lmstudio/models/us/ocelot/mmproj-ocelot-f16.gguf",
    ".lmstudio/models/us/large/large-00001-of-00002.gguf",
    ".lmstudio/models/us/ocelot/readme.md",
    ".lmstudio/models/us/large/LARGE-00002-of-00002.GGUF",
    ".cache/lm-studio/models/them/older/OLDER.GGUF",
  ]) {
    mkdirSync(path.dirname(path.join(at, place)), { recursive: true });
    writeFileSync(path.join(at, place), gguf("qwen2"));
  }
  expect(namesIn(at)).toEqual(["lmstudio:us/ocelot/ocelot-q4_0.gguf", "lmstudio:them/older/OLDER.GGUF"]);
  expect(foundGgufs({}, at).map(calledAs)).toEqual(["ocelot-q4_0", "OLDER"]);
});

it("reads the family past other fields, and of what is no GGUF file none", () => {
  const file = path.join(home(), "a.gguf");
  for (const [content, family] of [
    [gguf("gemma3", { sorted: true }), "gemma3"],
    [Buffer.from("GGUF"), null],
    [Buffer.alloc(200), null],
    [gguf("llama").subarray(0, 40), null],
  ] as const) {
    writeFileSync(file, content);
    expect(familyOf(file)).toBe(family);
  }
  expect(familyOf(path.join(file, "below"))).toBe(null);
});

it("offers the families that the trainer reads", () => {
  const source = readFileSync(path.join(findRepoRoot(), "trainer/src/imprint_trainer/bases/gguf_weights.py"), "utf8");
  const types = /^MODEL_TYPES = \{(.*?)\}/ms.exec(source)?.[1] ?? "";
  expect([...types.matchAll(/"(\w+)":/g)].map(([, family]) => family)).toEqual(FAMILIES);
});
