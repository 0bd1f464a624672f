import { join } from "node:path";
import type { Clock } from "../common/clock.js";
import { ImprintError, type Log } from "../common/error.js";
import { LIMITS, type Limits } from "../config/limits.js";
import type { Config } from "../config/load.js";
import { dataPaths } from "../storage/paths.js";
import { createLocalRunner, type WorkerCommand } from "./local/local-runner.js";
import { createRay } from "./ray/create.js";
import type { Places } from "./reference.js";
import { failedAtOnce, type Interactive, type Runner } from "./runner.js";

/** How the trainer is run: never through a shell, its sources from the checkout. Null when no interpreter is known. */
export const trainerCommand = ({ settings, repoRoot, ray }: Config): WorkerCommand | null => {
  const { python, data_dir, ray_python, ray_cpus, tracker } = settings;
  if (python === null) return null;
  const serve = ["-m", "imprint_trainer", "serve", ...(tracker === null ? [] : ["--tracker", tracker]), "--digests"];
  return {
    file: python,
    args: [...serve, dataPaths(data_dir).digests],
    env: { PYTHONPATH: join(repoRoot, "trainer", "src") },
    ...(ray && {
      onCluster: [ray_python ?? python, ...serve, join(ray.storage.onNodes, "digests.json"), "--threads", String(ray_cpus)],
    }),
  };
};

/** Stands in where setup has not run: the service works, and every training says what is missing. */
const createUnpreparedRunner = (): Runner & Interactive => {
  const error = new ImprintError("WORKER_START_FAILED", "No Python interpreter is prepared for the trainer.");
  return {
    start: () => failedAtOnce(error),
    adopt: async () => null,
    leftBehind: async () => [],
    release: async () => {},
    call: (): Promise<never> => Promise.reject(error),
    close: async () => {},
  };
};

export const createRunner = ({
  config,
  command,
  places,
  limits = LIMITS,
  clock,
  log,
  onWorkerStart,
}: {
  readonly config: Config;
  readonly command: WorkerCommand | null;
  readonly places: Places;
  readonly limits?: Limits;
  readonly clock: Clock;
  readonly log: Log;
  readonly onWorkerStart?: () => void;
}): Runner & Interactive => {
  const { settings } = config;
  if (command === null) return createUnpreparedRunner();
  const local = createLocalRunner({
    command,
    places,
    env: process.env,
    allowDownloads: settings.allow_downloads,
    tracker: settings.tracker,
    maxWorkers: settings.slots,
    heartbeatTimeoutMs: settings.heartbeat_timeout * 1000,
    startTimeoutMs: limits.startTimeoutMs,
    cancelGraceMs: limits.cancelGraceMs,
    log,
    clock,
    ...(onWorkerStart && { onWorkerStart }),
  });
  const ray = createRay({ config, command, places, interactive: local, limits, clock, log });
  if (ray === null) return local;
  // Whoever waits for an answer is answered here.
  const close = async (graceMs: number): Promise<void> => void (await Promise.all([ray.close(graceMs), local.close(graceMs)]));
  return { ...ray, call: local.call, close };
};
