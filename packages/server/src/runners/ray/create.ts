import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PreviewSpec, WorkerTask } from "@imprint/contracts";
import type { Clock } from "../../common/clock.js";
import type { Log } from "../../common/error.js";
import type { Limits } from "../../config/limits.js";
import type { Config } from "../../config/load.js";
import type { RayStorage } from "../../config/ray.js";
import { workerEnvironment } from "../local/environment.js";
import type { WorkerCommand } from "../local/local-runner.js";
import { type Places, resolveTask } from "../reference.js";
import type { Interactive, Runner } from "../runner.js";
import { createJobsApi } from "./jobs-api.js";
import { createRayRunner } from "./ray-runner.js";
import { instanceOf, sharedStorage, shipOnce } from "./storage.js";
import { createFolderStore } from "./stores/folder-store.js";
import { createS3Store } from "./stores/s3-store.js";
import type { Store } from "./stores/store.js";

interface CreateOptions {
  readonly config: Config;
  readonly command: WorkerCommand;
  readonly places: Places;
  /** Whom to ask what a training takes. */
  readonly interactive: Interactive;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly log: Log;
}

const POLL_MS = 500;
const STORE_POLL_MS = 1_000; // each look is three requests
const ASK_MS = 5_000;
const KILL_MS = 10_000; // beyond the grace, twice: a cluster that does not answer is not waited for longer

/** The runner of the settings' cluster; null where jobs run on this machine. */
export const createRay = ({
  config,
  command,
  places,
  interactive,
  limits: { cancelGraceMs, startTimeoutMs, keepCheckpointsMs: keepMs, rayAttempts: attempts },
  clock,
  log,
}: CreateOptions): Runner | null => {
  const { ray, settings, repoRoot } = config;
  if (ray === null) return null;
  const python = settings.ray_python ?? settings.python ?? command.file;
  const sources = join(repoRoot, "trainer", "src");
  const storage = sharedStorage(openStore(ray.storage, { sources, env: process.env }), instanceOf(settings.data_dir));
  return createRayRunner({
    api: createJobsApi(ray),
    storage,
    places,
    python,
    sources: async () => {
      const name = await shipOnce(storage.store, "trainer", sources);
      return { name, onNodes: storage.onNodes(name) };
    },
    command: command.onCluster ?? [command.file, ...command.args],
    env: workerEnvironment({ source: {}, allowDownloads: settings.allow_downloads }) as Readonly<Record<string, string>>,
    resources: async (task, signal) => {
      const { ray_cpus: cpus, ray_gpus: gpus } = settings;
      return { cpus, gpus, memory: gpus > 0 ? null : await memoryOf({ task, places, interactive, signal }) };
    },
    leave: settings.adopt,
    attempts,
    limits: {
      lostAfterMs: settings.heartbeat_timeout * 1000,
      patienceMs: settings.ray_patience * 1000,
      killMs: 2 * cancelGraceMs + KILL_MS,
    },
    cancelGraceMs,
    startTimeoutMs,
    pollMs: storage.store.carried === null ? POLL_MS : STORE_POLL_MS,
    askMs: ASK_MS,
    keepMs,
    clock,
    log,
  });
};

interface MemoryOptions {
  readonly task: WorkerTask;
  readonly places: Places;
  readonly interactive: Interactive;
  readonly signal: AbortSignal;
}
const MB = 1000000;

/** Bytes that a training takes on a CPU, by the memory model of its preview; null where nobody knows, or the job itself will say why. */
const memoryOf = async ({ task, places, interactive, signal }: MemoryOptions): Promise<number | null> => {
  if (task.type !== "train_lora") return null;
  const here = resolveTask(task, places);
  if (here.type !== "train_lora") return null;
  const { session_ids, session_paths, skip_invalid, unreadable, base_model, profile, holdout, max_length } = here.spec;
  const { include_unsuccessful, train_on, reasoning, epochs, rank, target_modules, quantization } = here.spec;
  const windows = { session_ids, session_paths, skip_invalid, unreadable, base_model, profile, holdout, max_length };
  const size = { epochs, within: null, rank, target_modules, quantization };
  const spec: PreviewSpec = { ...windows, include_unsuccessful, train_on, reasoning, ...size };
  try {
    const { memory } = await interactive.call({ type: "preview", spec, window: null, tokens_per_second: null }, signal);
    return memory === null ? null : Math.ceil(memory.total_mb * MB);
  } catch {
    signal.throwIfAborted();
    return null;
  }
};

interface OpenOptions {
  /** The trainer's sources on this machine. */
  readonly sources: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The store of the settings. Nothing is asked of it yet. */
const openStore = (storage: RayStorage, { sources, env }: OpenOptions): Store => {
  if (storage.type === "folder") return createFolderStore(storage.onNodes);
  const { url, onNodes } = storage;
  const fetchProgram = readFileSync(join(sources, "imprint_node", "fetch.py"), "utf8");
  return createS3Store({ url, onNodes, fetchProgram, env });
};
