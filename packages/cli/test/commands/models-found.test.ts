import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { findRepoRoot, readSetup } from "@imprint/server/configuration";
import { beforeAll, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { gguf, ollamaModel } from "../support/gguf-stores.js";
import { imprint } from "../support/imprint.js";
import { place } from "../support/service.js";

vi.setConfig({ testTimeout: 120_000 });
beforeAll(build, 120_000);

it("Ollama's models of families that are read are offered by name, and stay as they are when one is added", async () => {
  const at = await place();
  const root = path.join(at.root, "ollama");
  const IMPRINT_PYTHON = readSetup(findRepoRoot())?.python ?? "the set-up has not run";
  const given = { env: { ...at.env, IMPRINT_PYTHON, OLLAMA_MODELS: root, HOME: at.root } };
  ollamaModel(root, "manifests/registry.ollama.ai/library/qwen3/0.6b", gguf("qwen3"));
  ollamaModel(root, "manifests/registry.ollama.ai/library/gpt-oss/20b", gguf("gptoss"));
  const { stdout } = await imprint(["models"], given);
  expect(stdout).toMatch(/models add NAME makes a base model of one:\nNAME +SIZE +FAMILY\nollama:qwen3:0\.6b +\S+ B +qwen3/);
  expect(stdout).not.toContain("gpt-oss");

  const absent = await imprint(["models", "add", "ollama:qwen3:8b"], given);
  expect([absent.code, absent.stderr]).toEqual([
    2,
    expect.stringContaining("there is no ollama:qwen3:8b in the folders of Ollama"),
  ]);
  const blobs = path.join(root, "blobs");
  const before = readdirSync(blobs).map((name) => [name, readFileSync(path.join(blobs, name))]);
  const other = await imprint(["models", "add", "ollama:gpt-oss:20b"], given);
  expect([other.code, other.stderr]).toEqual([
    1,
    expect.stringContaining("is of the family gptoss, and GGUF is read of gemma3, granite"),
  ]);
  expect(readdirSync(blobs).map((name) => [name, readFileSync(path.join(blobs, name))])).toEqual(before);
  expect(readdirSync(path.join(at.dataDir, "models"))).toEqual([]);
});
