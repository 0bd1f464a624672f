export * from "./configuration.js";
export type { WorkerCommand } from "./executors/local/local-executor.js";
export { DataDirectoryInUseError } from "./registry/lock.js";
export { SchemaTooNewError } from "./registry/migrate.js";
export { runServer } from "./run.js";
export { type RunningServer, type StartOptions, startServer } from "./server.js";
export type { App } from "./services.js";
export { trainerCommand } from "./training/executor.js";
