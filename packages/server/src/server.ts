import { pino } from "pino";
import { buildApp } from "./app.js";
import { type Clock, systemClock } from "./common/clock.js";
import { ImprintError } from "./common/error.js";
import { LIMITS, type Limits } from "./config/limits.js";
import type { Config } from "./config/load.js";
import { createRecorder } from "./conversation/recording/recorder.js";
import { createEngine } from "./engines/create.js";
import { createHistory } from "./events/history.js";
import { createStreams } from "./events/streams.js";
import type { App } from "./http/app.js";
import { listen, urlOf } from "./http/listen.js";
import type { Jobs } from "./jobs/jobs.js";
import { startJobs } from "./jobs/start-jobs.js";
import { createKinds, type Kinds } from "./kinds/index.js";
import { sweepAfterJobs } from "./kinds/lora/checkpoints/sweep-after-jobs.js";
import { systemRandomness } from "./kinds/resolve.js";
import type { Workshop } from "./kinds/workshop.js";
import { createIdempotency } from "./launch/idempotency.js";
import { createMetrics } from "./metrics/metrics.js";
import { baseModelsOf, nameAt } from "./models/base-model.js";
import { hypernetworkFolders } from "./models/hypernetworks.js";
import { createFineTunes } from "./openai/fine-tunes.js";
import { createProjects } from "./projects/projects.js";
import { createRunner, trainerCommand } from "./runners/create.js";
import type { WorkerCommand } from "./runners/local/local-runner.js";
import { localPlaces } from "./runners/reference.js";
import type { Interactive, Runner } from "./runners/runner.js";
import { createSessionStore } from "./sessions/store.js";
import { announceAddress } from "./storage/address-file.js";
import { createDiscards } from "./storage/discards.js";
import { openStorage } from "./storage/open.js";
import { sweep } from "./sweep.js";
import { createWebhooks } from "./webhooks/webhooks.js";

const IDEMPOTENCY_KEYS = 10_000;
const CLOSE_WORKERS_MS = 2_000;
const CLOSE_CONNECTIONS_MS = 500;
const NOT_REMOVED = "a discarded folder could not be removed";

export interface RunningServer {
  /** Address that answers, such as http://127.0.0.1:7878 */
  readonly url: string;
  readonly app: App;
  readonly jobs: Jobs;
  /**
   * Takes no more jobs, gives those that run `graceMs` (default: shutdown_grace), then stops everything; 0 kills the trainers at
   * once. May be called again with less grace; every call resolves when all is closed.
   */
  close(graceMs?: number): Promise<void>;
}

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

/** What was opened, to be closed in the reverse order. */
const createOpened = () => {
  const closes: (() => unknown)[] = [];
  return {
    add<T extends { close(): unknown }>(one: T): T {
      closes.push(() => one.close());
      return one;
    },
    onClose: (close: () => unknown): void => void closes.push(close),
    close: async (): Promise<void> => {
      for (const close of closes.toReversed()) await close();
    },
  };
};

/**
 * Starts the service: opens the registry, removes what a crash left behind, and listens.
 * @throws DataDirectoryInUseError, OtherSchemaError, or ConfigError for a data directory or address that cannot be used;
 *   nothing is left open then
 */
export const startServer = async (config: Config, options: StartOptions = {}): Promise<RunningServer> => {
  const { clock = systemClock(), adaptKinds = (kinds) => kinds, announce = false } = options;
  const limits: Limits = { ...LIMITS, ...options.limits };
  const { settings, token, webhook } = config;
  const log = pino({ level: settings.log_level }, pino.destination({ dest: 2, sync: true }));
  const now = (): Date => new Date(clock.now());
  const random = systemRandomness;
  const stopping = new AbortController();
  const closing = stopping.signal;
  const opened = createOpened();
  const { paths, database } = opened.add(openStorage(settings.data_dir));

  try {
    const swept = await sweep({ database, paths });
    if (swept.staging.length + swept.orphans.length + swept.erased > 0)
      log.warn(swept, "removed what an earlier run left behind");
    const discards = opened.add(createDiscards({ root: paths.root, onError: (err) => log.error({ err }, NOT_REMOVED) }));

    const metrics = createMetrics();
    const { onWorkerStart } = metrics;
    const models = baseModelsOf(config);
    const places = localPlaces({ paths, models, hypernetworks: hypernetworkFolders(config) });
    const command = options.command ?? trainerCommand(config);
    const runner = options.runner ?? createRunner({ config, command, places, limits, clock, log, onWorkerStart });
    const engine = createEngine({ config, command, worker: runner, paths, nameOf: (at) => nameAt(at, models), log });

    const bounds = { limit: settings.session_limit, importBounds: { decoded: settings.import_unpacked_bytes } };
    const sessions = opened.add(createSessionStore({ database, paths, discards, ...bounds, log, now }));
    const completeIndex = await sessions.recover();
    const recorder = opened.add(createRecorder({ sessions, always: settings.record, log, now }));

    const { checkpointSeconds, keepCheckpoints: keep, keepCheckpointsMs: keepMs } = limits;
    const workshop: Workshop = { database, paths, sessions, models, checkpointSeconds, now };
    const kinds = adaptKinds(createKinds(workshop));
    const jobs = await startJobs({ kinds, runner, settings, limits, clock, log });
    const history = createHistory({ jobs, clock });
    await sweepAfterJobs({ jobs, options: () => ({ folder: paths.checkpoints, keep, keepMs, now: clock.now() }), log });
    if (webhook) opened.add(createWebhooks({ webhook, jobs, clock, log }));
    const idempotency = createIdempotency({ capacity: IDEMPOTENCY_KEYS });
    const projects = opened.add(createProjects({ workshop, kinds, jobs, idempotency, random, clock, closing, log }));
    await projects.recover();

    const streams = createStreams({ limit: limits.eventStreams, clock });
    metrics.observe({ jobs, streams, database });
    const fineTunes = createFineTunes({ jobs, now });
    const { interactive, upstream } = engine;
    const told = { history, streams, metrics, fineTunes };
    const asked = { kinds, jobs, projects, idempotency, recorder, interactive, upstream, random, closing, workshop };
    let port = settings.port;
    const access = { host: settings.host, port: () => port, allowHost: settings.allow_host, token };
    const app = await buildApp({ services: { ...told, ...asked }, access, bodyLimit: limits.bodyBytes, log, clock });
    opened.onClose(() => {
      // Whoever does not read the last answer, or has not asked anything yet, is not waited for.
      const disarm = clock.after(CLOSE_CONNECTIONS_MS, () => app.server.closeAllConnections());
      return app.close().finally(disarm);
    });
    // Before the app, which waits for the answers of calls that a trainer works on.
    opened.onClose(() => runner.close(CLOSE_WORKERS_MS));
    opened.add(engine);
    port = await listen(app, settings);
    const url = urlOf(settings.host, port);
    if (announce) opened.onClose(await announceAddress(paths, url));

    await discards.resume();
    // Not awaited: the files may be many, and large.
    void completeIndex().then(
      (recovered) => log.info(recovered, "the index of the sessions is complete"),
      (err) => log.error({ err }, "the index of the sessions could not be completed"),
    );

    let closed: Promise<void> | null = null;
    return {
      url,
      app,
      jobs,
      close: async (graceMs = settings.shutdown_grace * 1000) => {
        stopping.abort(new ImprintError("SHUTTING_DOWN", "The service is shutting down."));
        const drained = jobs.close(graceMs);
        // Reads are answered while running jobs get their time; starts and chats are refused with 503.
        closed ??= drained.then(opened.close);
        if (graceMs === 0) await runner.close(0);
        await closed;
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
};
