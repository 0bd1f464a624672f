import type { Config } from "./config/load.js";
import { type RunningServer, type StartOptions, startServer } from "./server.js";

/**
 * Serves until a signal, and lets commands find the service: the first one lets running jobs end within the grace period, a second one does not wait.
 * Resolves when all is closed; the exit code is the caller's, 0 by default.
 */
export const runServer = async (
  config: Config,
  { onListening, ...options }: StartOptions & { readonly onListening?: (server: RunningServer) => void } = {},
): Promise<void> => {
  const server = await startServer(config, { announce: true, ...options });
  onListening?.(server);
  await new Promise<void>((resolve, reject) => {
    let signals = 0;
    const stop = (): void => {
      signals += 1;
      server.close(signals > 1 ? 0 : undefined).then(resolve, reject);
    };
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
  });
};
