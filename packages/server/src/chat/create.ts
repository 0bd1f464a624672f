import type { ServedBy } from "@imprint/contracts";
import type { Log } from "../common/error.js";
import type { Config } from "../config/load.js";
import type { WorkerCommand } from "../runners/local/local-runner.js";
import type { Interactive } from "../runners/runner.js";
import type { Served } from "../runners/served.js";
import type { DataPaths } from "../storage/paths.js";
import { createProve, type Prove } from "./applied.js";
import { chooseEngine } from "./choose.js";
import { type ChatEngine, createTrainerEngine } from "./engine.js";
import { createProveLoaded } from "./llama-cpp/applied.js";
import { createLlamaCppEngine } from "./llama-cpp/engine.js";
import { createGgufFiles } from "./llama-cpp/gguf-files.js";
import { createLlamaProcess } from "./llama-cpp/process.js";
import { createPreparing, type Preparing } from "./preparing.js";
import { createUpstreamEngine } from "./upstream/engine.js";

interface EngineOptions {
  readonly config: Config;
  /** How the trainer is run; null where setup has not run. */
  readonly command: WorkerCommand | null;
  readonly worker: Interactive;
  readonly paths: Pick<DataPaths, "gguf" | "exports">;
  /** What a base model is called, by where it lies. */
  readonly nameOf: (location: string) => string;
  /** Told whether what answers an adapter's chats applies it. */
  readonly onServed: (adapterId: string, served: ServedBy) => Promise<void>;
  readonly now: () => Date;
  readonly log: Log;
}

interface Engine {
  readonly engine: ChatEngine;
  close(): void;
}

const createLocalEngine = (
  { config, command, worker, paths, log }: EngineOptions,
  preparing: Preparing,
  prove: Prove,
): Engine => {
  const trainer = createTrainerEngine(worker, log, preparing);
  const choice = chooseEngine(config);
  if (choice.engine === "transformers" || command === null) {
    if ("missing" in choice && choice.missing !== null) log.warn({ reason: choice.missing }, "the trainer answers chats");
    return { engine: trainer, close: () => {} };
  }
  const llama = createLlamaProcess({ library: choice.library });
  const files = createGgufFiles({ paths, trainer: command, preparing, log });
  const close = (): void => {
    files.close();
    llama.close();
  };
  const proveLoaded = createProveLoaded(llama, prove);
  return { engine: createLlamaCppEngine({ trainer, files, llama, proveLoaded, preparing, log }), close };
};

/** Who answers chats, and what another server serves. */
export const createEngine = (
  options: EngineOptions,
): Engine & { readonly upstream: Served | null; readonly preparing: Preparing } => {
  const { config, nameOf, onServed, now, log } = options;
  const preparing = createPreparing();
  const prove = createProve({ record: onServed, now });
  const local = createLocalEngine(options, preparing, prove);
  if (config.upstream === null) return { ...local, preparing, upstream: null };
  const upstream = createUpstreamEngine({ upstream: config.upstream, local: local.engine, nameOf, prove, log });
  return { engine: upstream, upstream, preparing, close: local.close };
};
