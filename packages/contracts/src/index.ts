export * from "./adapters.js";
export * from "./errors.js";
export * from "./ids.js";
export * from "./jobs.js";
export * from "./object.js";
export * from "./session.js";
export * from "./training.js";
export * from "./worker.js";
