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
import { createJobs } from "./jobs/create-jobs.js";
import { createIds } from "./jobs/ids.js";
import type { Jobs } from "./jobs/jobs.js";
import { recoverJobs } from "./jobs/recover.js";
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

/**
 * Starts the service: opens the registry, sweeps what a crash left behind, and listens.
 * @throws DataDirectoryInUseError, OtherSchemaError, or ConfigError for a data directory or address that cannot be used;
 *   nothing is left open then
 */
export const startServer = async (
  config: Config,
  {
    command,
    clock = systemClock(),
    runner: given,
    adaptKinds = (kinds) => kinds,
    limits: otherLimits,
    announce = false,
  }: StartOptions = {},
): Promise<RunningServer> => {
  const limits: Limits = { ...LIMITS, ...otherLimits };
  const { settings, token, webhook } = config;
  const log = pino({ level: settings.log_level }, pino.destination({ dest: 2, sync: true }));
  const newId = createIds({ clock });
  const storage = openStorage(settings.data_dir);
  const { paths, database } = storage;
  const undo: (() => unknown)[] = [() => storage.close()];
  const undoAll = async (): Promise<void> => {
    for (const step of undo.toReversed()) await step();
  };

  try {
    const swept = await sweep({ database, paths });
    if (swept.staging.length + swept.orphans.length + swept.erased > 0) log.warn(swept, "swept what an earlier run left behind");

    const discards = createDiscards({
      root: paths.root,
      onError: (err) => log.error({ err }, "a discarded folder could not be removed"),
    });
    undo.push(() => discards.close());
    const metrics = createMetrics();
    const { onWorkerStart } = metrics;
    const models = baseModelsOf(config);
    const places = localPlaces({ paths, models, hypernetworks: hypernetworkFolders(config) });
    const trainer = command ?? trainerCommand(config);
    const runner = given ?? createRunner({ config, command: trainer, places, limits, clock, log, onWorkerStart });
    const engine = createEngine({
      config,
      command: trainer,
      worker: runner,
      paths,
      nameOf: (location) => nameAt(location, models),
      log,
    });
    const now = (): Date => new Date(clock.now());
    const sessions = createSessionStore({
      database,
      paths,
      discards,
      limit: settings.session_limit,
      importBounds: { decoded: settings.import_unpacked_bytes },
      log,
      now,
    });
    undo.push(() => sessions.close());
    const recover = await sessions.recover();
    const recorder = createRecorder({ sessions, always: settings.record, log, now });
    undo.push(() => recorder.close());
    const workshop: Workshop = {
      database,
      paths,
      sessions,
      models,
      checkpointSeconds: limits.checkpointSeconds,
      now,
    };
    const kinds = adaptKinds(createKinds(workshop));
    const jobs = createJobs({
      kinds,
      runner,
      clock,
      newId,
      limits: {
        slots: settings.slots,
        maxQueued: settings.max_queued,
        keepFinished: limits.keepFinished,
        keepFinishedMs: limits.keepFinishedMs,
        maxJobMs: settings.max_job_seconds * 1000,
      },
      log,
    });
    const closing = new AbortController();
    await recoverJobs({ runner, jobs, adopt: settings.adopt, log });
    await sweepAfterJobs({
      jobs,
      options: () => ({
        folder: paths.checkpoints,
        keep: limits.keepCheckpoints,
        keepMs: limits.keepCheckpointsMs,
        now: clock.now(),
      }),
      log,
    });

    const streams = createStreams({ limit: limits.eventStreams, clock });
    metrics.observe({ jobs, streams, database });
    const webhooks = webhook && createWebhooks({ webhook, jobs, clock, log });
    undo.push(() => webhooks?.close());
    const random = systemRandomness;
    const idempotency = createIdempotency({ capacity: IDEMPOTENCY_KEYS });
    const projects = createProjects({ workshop, kinds, jobs, idempotency, random, clock, closing: closing.signal, log });
    undo.push(() => projects.close());
    await projects.recover();

    let port = settings.port;
    const app = await buildApp({
      services: {
        kinds,
        jobs,
        history: createHistory({ jobs, clock }),
        streams,
        metrics,
        fineTunes: createFineTunes({ jobs, now }),
        recorder,
        interactive: engine.interactive,
        upstream: engine.upstream,
        idempotency,
        projects,
        random,
        closing: closing.signal,
        workshop,
      },
      access: {
        host: settings.host,
        port: () => port,
        allowHost: settings.allow_host,
        token,
      },
      bodyLimit: limits.bodyBytes,
      log,
      clock,
    });
    undo.push(() => {
      // Whoever does not read the last answer, or has not asked anything yet, is not waited for.
      const disarm = clock.after(CLOSE_CONNECTIONS_MS, () => app.server.closeAllConnections());
      return app.close().finally(disarm);
    });
    // Before the app, which waits for the answers of calls that a trainer works on.
    undo.push(() => runner.close(CLOSE_WORKERS_MS));
    undo.push(() => engine.close());
    port = await listen(app, settings);
    const url = urlOf(settings.host, port);
    if (announce) {
      undo.push(await announceAddress(paths, url));
    }

    await discards.resume();
    // Not awaited: the files may be many, and large.
    void recover().then(
      (recovered) => log.info(recovered, "the index of the sessions is complete"),
      (err) => log.error({ err }, "the index of the sessions could not be completed"),
    );

    let closed: Promise<void> | null = null;
    return {
      url,
      app,
      jobs,
      close: async (graceMs = settings.shutdown_grace * 1000) => {
        closing.abort(new ImprintError("SHUTTING_DOWN", "The service is shutting down."));
        const drained = jobs.close(graceMs);
        // Reads are answered while running jobs get their time; starts and chats are refused with 503.
        closed ??= drained.then(undoAll);
        if (graceMs === 0) await runner.close(0);
        await closed;
      },
    };
  } catch (error) {
    await undoAll();
    throw error;
  }
};
