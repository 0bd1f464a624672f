// What a program needs to read what the service stores, without loading the service: a package entry of its own.
export { JobError } from "./jobs/job-error.js";
export { dataPaths } from "./registry/paths.js";
export { readSession } from "./sessions/read.js";
export { locateBaseModel } from "./training/base-model.js";
