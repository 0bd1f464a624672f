import type { Log } from "../common/log.js";
import type { Config } from "../config/load.js";
import type { WorkerCommand } from "../runners/local/local-runner.js";
import type { Interactive } from "../runners/runner.js";
import type { DataPaths } from "../storage/paths.js";
import { chooseEngine } from "./choose.js";
import { createLlamaCppEngine } from "./llama-cpp/engine.js";
import { createGgufFiles } from "./llama-cpp/gguf-files.js";
import { createLlamaProcess } from "./llama-cpp/process.js";

/** Who answers chats. */
export const createEngine = ({
  config,
  command,
  worker,
  paths,
  log,
}: {
  readonly config: Config;
  /** How the trainer is run; null where setup has not run. */
  readonly command: WorkerCommand | null;
  readonly worker: Interactive;
  readonly paths: Pick<DataPaths, "gguf" | "exports">;
  readonly log: Log;
}): { readonly interactive: Interactive; close(): void } => {
  const choice = chooseEngine(config);
  if (choice.engine === "transformers" || command === null) {
    if ("missing" in choice && choice.missing !== null) log.warn({ reason: choice.missing }, "the trainer answers chats");
    return { interactive: worker, close: () => {} };
  }
  const llama = createLlamaProcess({ library: choice.library });
  const files = createGgufFiles({ paths, trainer: command });
  return { interactive: createLlamaCppEngine({ worker, files, llama, log }), close: llama.close };
};
