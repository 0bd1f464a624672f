import { join } from "node:path";
import type { Clock } from "../common/clock.js";
import { ImprintError } from "../common/error.js";
import type { Log } from "../common/log.js";
import type { Config } from "../config/load.js";
import { dataPaths } from "../storage/paths.js";
import { createLocalRunner, type WorkerCommand } from "./local/local-runner.js";
import type { Places } from "./reference.js";
import { failedAtOnce, type Interactive, type Runner } from "./runner.js";

/** How the trainer is run: never through a shell, its sources from the checkout. Null when no interpreter is known. */
export const trainerCommand = ({ settings, repoRoot }: Config): WorkerCommand | null =>
  settings.python === null
    ? null
    : {
        file: settings.python,
        args: ["-m", "imprint_trainer", "serve", "--digests", dataPaths(settings.data_dir).digests],
        env: { PYTHONPATH: join(repoRoot, "trainer", "src") },
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
  config: { settings },
  command,
  places,
  clock,
  log,
  onWorkerStart,
}: {
  readonly config: Config;
  readonly command: WorkerCommand | null;
  readonly places: Places;
  readonly clock: Clock;
  readonly log: Log;
  readonly onWorkerStart?: () => void;
}): Runner & Interactive =>
  command === null
    ? createUnpreparedRunner()
    : createLocalRunner({
        command,
        places,
        env: process.env,
        allowDownloads: settings.allow_downloads,
        maxWorkers: settings.slots,
        heartbeatTimeoutMs: settings.heartbeat_timeout * 1000,
        startTimeoutMs: settings.start_timeout * 1000,
        cancelGraceMs: settings.cancel_grace * 1000,
        log,
        clock,
        ...(onWorkerStart && { onWorkerStart }),
      });
