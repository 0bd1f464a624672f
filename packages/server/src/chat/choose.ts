import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/load.js";

/** Where `imprint setup` installs node-llama-cpp. */
export const llamaCppEntry = (repoRoot: string): string =>
  join(repoRoot, "packages", "server", "llama-cpp", "node_modules", "node-llama-cpp", "dist", "index.js");

/** Types of base models that llama.cpp can be given here, as far as config.json says it: a tokenizer of another kind shows when its file is written. */
export const LLAMA_CPP_TYPES: readonly string[] = ["llama", "mistral", "qwen2", "qwen3"];

export type ChatEngineName = "llama.cpp" | "transformers";

/** Who answers chats, and what is missing where it is not the one that was asked for. */
export type EngineChoice =
  | { readonly engine: "transformers"; readonly missing: string | null }
  | { readonly engine: "llama.cpp"; readonly library: string };

export const chooseEngine = ({ settings, repoRoot }: Config): EngineChoice => {
  if (settings.engine === "transformers") return { engine: "transformers", missing: null };
  const library = llamaCppEntry(repoRoot);
  if (existsSync(library)) return { engine: "llama.cpp", library };
  return { engine: "transformers", missing: "llama.cpp is not installed: imprint setup" };
};

/** Who answers chats with a base model, by its type as config.json says it. */
export const engineFor = (type: string | null, config: Config): ChatEngineName =>
  type !== null && LLAMA_CPP_TYPES.includes(type) ? chooseEngine(config).engine : "transformers";
