import type { ServedBy } from "@imprint/contracts";
import { buildApp } from "./app.js";
import { createOpened, openData, openSessions, type RunningServer, serve } from "./building.js";
import { type ChatEngineName, engineFor } from "./chat/choose.js";
import { createEngine } from "./chat/create.js";
import { createChatService } from "./chat/service.js";
import { type Clock, systemClock } from "./common/clock.js";
import { createLog } from "./common/log.js";
import { LIMITS, type Limits } from "./config/limits.js";
import type { Config } from "./config/load.js";
import { createHistory } from "./events/history.js";
import { createStreams } from "./events/streams.js";
import { startJobs } from "./jobs/start-jobs.js";
import type { KindDeps } from "./kinds/deps.js";
import { createKinds, type Kinds } from "./kinds/index.js";
import { cleanUpAfterJobs } from "./kinds/lora/checkpoints/clean-up.js";
import { systemRandomness } from "./kinds/resolve.js";
import { createIdempotency } from "./launch/idempotency.js";
import { keepUnstarted } from "./launch/left.js";
import { createMetrics } from "./metrics/metrics.js";
import { baseModelsOf, hypernetworkFolders, nameAt } from "./models/base-model.js";
import { createProjects } from "./projects/projects.js";
import { recordOf } from "./registry/adapters.js";
import { createFineTunes } from "./routes/fine-tuning/fine-tunes.js";
import { createRunner, trainerCommand } from "./runners/create.js";
import { createRunCommand } from "./runners/local/command.js";
import type { WorkerCommand } from "./runners/local/local-runner.js";
import { localPlaces } from "./runners/reference.js";
import type { Interactive, Runner } from "./runners/runner.js";
import { inTransaction } from "./storage/transaction.js";

const IDEMPOTENCY_KEYS = 10_000;

export type { RunningServer } from "./building.js";

export interface StartOptions {
  /** How to run the trainer, instead of the configured interpreter. */
  readonly command?: WorkerCommand;
  readonly clock?: Clock;
  /** Where jobs run, instead of the configured runner, and what is made of their kinds: for measurements of the service alone. */
  readonly runner?: Runner & Interactive;
  readonly adaptKinds?: (kinds: Kinds) => Kinds;
  readonly limits?: Partial<Limits>;
  /** Whether to leave the address in server.json while the service runs, for commands to find. Default: false. */
  readonly announce?: boolean;
}

/**
 * Starts the service: opens the registry, removes what a crash left behind, and listens.
 * @throws DataDirectoryInUseError, OtherSchemaError, or ConfigError for a data directory or address that cannot be used;
 *   nothing is left open then
 */
export const startServer = async (config: Config, options: StartOptions = {}): Promise<RunningServer> => {
  const { clock = systemClock(), adaptKinds = (kinds) => kinds, announce = false } = options;
  const { settings, token } = config;
  const limits: Limits = { ...LIMITS, ...options.limits };
  const { checkpointSeconds, keepCheckpoints: keep, keepCheckpointsMs: keepMs } = limits;
  const now = (): Date => new Date(clock.now());
  const log = createLog(settings.log_level);
  const [opened, stopping, random] = [createOpened(), new AbortController(), systemRandomness];
  const closing = stopping.signal;
  const base = { config, limits, clock, now, log, opened };

  try {
    const data = await openData(base);
    const { database, paths } = data;
    const metrics = createMetrics();
    const models = baseModelsOf(config);
    const places = localPlaces({ paths, models, hypernetworks: hypernetworkFolders(config) });
    const command = options.command ?? trainerCommand(config);
    const { onWorkerStart } = metrics;
    const runner = options.runner ?? createRunner({ config, command, places, limits, clock, log, onWorkerStart });
    const nameOf = (at: string): string => nameAt(at, models);
    const onServed = (adapterId: string, served: ServedBy) =>
      inTransaction(database, (db) => recordOf(db, adapterId, { served }));
    const engine = createEngine({ config, command, worker: runner, paths, nameOf, onServed, now, log });
    const { sessions, recorder, completeIndex } = await openSessions(base, data);
    const run = createRunCommand({ command, env: process.env, graceMs: limits.cancelGraceMs, clock });
    const deps: KindDeps = { database, paths, sessions, models, run, checkpointSeconds, now };
    const kinds = adaptKinds(createKinds(deps));
    const jobs = await startJobs({
      keepUnstarted: (waiting) => keepUnstarted(paths, waiting),
      kinds,
      runner,
      settings,
      limits,
      clock,
      log,
    });
    await cleanUpAfterJobs({ jobs, options: () => ({ folder: paths.checkpoints, keep, keepMs, now: clock.now() }), log });
    const history = createHistory({ jobs, clock });
    const streams = createStreams({ limit: limits.eventStreams, clock });
    metrics.observe({ jobs, streams, database, clock });
    const idempotency = createIdempotency({ capacity: IDEMPOTENCY_KEYS });
    const projects = opened.add(createProjects({ deps, kinds, jobs, idempotency, random, clock, closing, log }));
    await projects.recover();

    const { upstream, preparing } = engine;
    const registry = { database, paths };
    const chat = createChatService({ engine: engine.engine, upstream, recorder, registry, models, closing, clock });

    let port = settings.port;
    const access = { host: settings.host, port: () => port, allowHost: settings.allow_host, token };
    const events = { history, streams, metrics, preparing, fineTunes: createFineTunes({ jobs, now }) };
    const engineOf = (type: string | null): ChatEngineName => engineFor(type, config);
    const work = { kinds, jobs, projects, idempotency, chat, interactive: runner, upstream, engineOf, random, closing, deps };
    const app = await buildApp({ services: { ...events, ...work }, access, bodyLimit: limits.bodyBytes, log, clock });
    const onPort = (listening: number): void => {
      port = listening;
    };
    const server = await serve(base, { app, jobs, runner, engine, stopping, onPort, announce: announce ? paths : null });
    await data.discards.resume();
    completeIndex(); // not awaited: the files may be many, and large
    return server;
  } catch (error) {
    await opened.close();
    throw error;
  }
};
