import { ConfigError, ImprintError } from "./common/error.js";
import type { Config } from "./config/load.js";
import { baseModelsOf, requestedBaseModel } from "./models/base-model.js";
import { type RunningServer, type StartOptions, startServer } from "./server.js";

/** A base model that somebody chose must be there; without the one of the set-up the service runs, and says what is missing. */
const checkBaseModel = (config: Config): void => {
  if (["setup", "default"].includes(config.origins.base_model)) return;
  try {
    requestedBaseModel(undefined, baseModelsOf(config));
  } catch (error) {
    if (!(error instanceof ImprintError)) throw error;
    throw new ConfigError([`base_model ${config.settings.base_model} cannot be used. ${error.message} ${error.hint}`]);
  }
};

/** What still keeps the process after a second signal ends with it: longer than closing at once takes. */
const LAST_MS = 4_000;

/**
 * Serves until a signal, and lets commands find the service: the first one lets running jobs end within the grace period, a second one does not wait,
 * and ends the process whatever happens.
 * Resolves when all is closed; the exit code is the caller's, 0 by default.
 */
export const runServer = async (
  config: Config,
  { onListening, ...options }: StartOptions & { readonly onListening?: (server: RunningServer) => void } = {},
): Promise<void> => {
  checkBaseModel(config);
  await new Promise<void>((resolve, reject) => {
    let server: RunningServer | undefined;
    let signals = 0;
    const close = (): void => void server?.close(signals > 1 ? 0 : undefined).then(resolve, reject);
    const stop = (): void => {
      signals += 1;
      if (signals === 2) setTimeout(() => process.exit(process.exitCode ?? 1), LAST_MS).unref();
      close();
    };
    // Heard before anyone can know that the service listens.
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
    startServer(config, { announce: true, ...options })
      .then((started) => {
        server = started;
        if (signals === 0) onListening?.(started);
        else close();
      })
      .catch(reject);
  });
};
