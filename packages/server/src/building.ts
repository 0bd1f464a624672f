import type { Logger } from "pino";
import { createRecorder } from "./chat/recording/recorder.js";
import { cleanUp } from "./clean-up.js";
import type { Clock } from "./common/clock.js";
import { ImprintError } from "./common/error.js";
import type { Limits } from "./config/limits.js";
import type { Config } from "./config/load.js";
import type { App } from "./http/app.js";
import { announceAddress, listen, urlOf } from "./http/listen.js";
import type { Jobs } from "./jobs/jobs.js";
import { baseModelsOf, fallbackName, preparedModels } from "./models/base-model.js";
import type { Runner } from "./runners/runner.js";
import { createSessionStore } from "./sessions/store.js";
import { createDiscards } from "./storage/discards.js";
import { openStorage } from "./storage/open.js";
import type { DataPaths } from "./storage/paths.js";

// The steps of server.ts that take more than one room.

const CLOSE_WORKERS_MS = 2_000;
const CLOSE_CONNECTIONS_MS = 500;

/** What was opened, to be closed in the reverse order. */
export const createOpened = () => {
  const closes: (() => unknown)[] = [];
  const onClose = (close: () => unknown): void => void closes.push(close);
  return {
    onClose,
    add<T extends { close(): unknown }>(one: T): T {
      onClose(() => one.close());
      return one;
    },
    async close(): Promise<void> {
      for (const close of closes.toReversed()) await close();
    },
  };
};

/** What every step is made with. */
export interface Base {
  readonly config: Config;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly now: () => Date;
  readonly log: Logger;
  readonly opened: ReturnType<typeof createOpened>;
}

export type Data = Awaited<ReturnType<typeof openData>>;

/** The data directory, without what a crash left behind. */
export const openData = async ({ config: { settings }, log, opened }: Base) => {
  const { paths, database, older } = opened.add(openStorage(settings.data_dir));
  if (older !== null) log.info({ older }, "the registry was an older Imprint's and is this one's now; a copy is kept");
  const removed = await cleanUp({ database, paths });
  if (removed.staging.length + removed.leftovers.length + removed.erased > 0)
    log.warn(removed, "removed what an earlier run left behind");
  const discards = createDiscards({
    root: paths.root,
    onError: (err) => log.error({ err }, "a discarded folder could not be removed"),
  });
  return { paths, database, discards: opened.add(discards) };
};

/** The sessions, whose index is completed once the service listens, and what records chats among them. */
export const openSessions = async ({ config, now, log, opened }: Base, data: Data) => {
  const { settings } = config;
  const { session_limit: limit, import_unpacked_bytes: decoded, record: always } = settings;
  const models = baseModelsOf(config);
  const baseModels = [fallbackName(models), ...preparedModels(models)];
  const sessions = opened.add(createSessionStore({ ...data, limit, importBounds: { decoded }, baseModels, log, now }));
  const recover = await sessions.recover();
  const completeIndex = (): void =>
    void recover().then(
      (recovered) => log.info(recovered, "the index of the sessions is complete"),
      (err) => log.error({ err }, "the index of the sessions could not be completed"),
    );
  return { sessions, recorder: opened.add(createRecorder({ sessions, always, log, now })), completeIndex };
};

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

interface Serving {
  readonly app: App;
  readonly jobs: Jobs;
  readonly runner: Runner;
  readonly engine: { close(): unknown };
  readonly stopping: AbortController;
  readonly onPort: (port: number) => void;
  /** Where the address is left for commands to find; null: nowhere. */
  readonly announce: DataPaths | null;
}

/** Listens, until all is closed. */
export const serve = async ({ config: { settings }, clock, opened }: Base, serving: Serving): Promise<RunningServer> => {
  const { app, jobs, runner, engine, stopping } = serving;
  opened.onClose(() => {
    // Whoever does not read the last answer, or has not asked anything yet, is not waited for.
    const disarm = clock.after(CLOSE_CONNECTIONS_MS, () => app.server.closeAllConnections());
    return app.close().finally(disarm);
  });
  // Before the app, which waits for the answers of calls that a trainer works on.
  opened.onClose(() => runner.close(CLOSE_WORKERS_MS));
  opened.add(engine);
  const port = await listen(app, settings);
  serving.onPort(port);
  const url = urlOf(settings.host, port);
  if (serving.announce) opened.onClose(await announceAddress(serving.announce, url));

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
};
