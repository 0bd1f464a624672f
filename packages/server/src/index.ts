export * from "./configuration.js";
export type { App } from "./http/app.js";
export { runServer } from "./run.js";
export { trainerCommand } from "./runners/create.js";
export type { WorkerCommand } from "./runners/local/local-runner.js";
export { type RunningServer, type StartOptions, startServer } from "./server.js";
export { DataDirectoryInUseError } from "./storage/lock.js";
export { openStorage } from "./storage/open.js";
export { OtherSchemaError } from "./storage/sqlite/migrate.js";
