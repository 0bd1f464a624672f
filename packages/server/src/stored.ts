// What a program needs to read what the service stores, without loading the service: a package entry of its own.

export { baseGguf } from "./chat/llama-cpp/gguf-files.js";
export { ImprintError } from "./common/error.js";
export { keptCheckpoints } from "./kinds/lora/checkpoints/folder.js";
export {
  baseModelsOf,
  isModelName,
  linkModel,
  locateBaseModel,
  preparedModels,
  requestedBaseModel,
} from "./models/base-model.js";
export { readSession } from "./sessions/read.js";
export { unreadSessions } from "./sessions/session-file.js";
export { dataPaths, ensureDataPaths } from "./storage/paths.js";
export { type CopiedDatabase, openCopy } from "./storage/sqlite/copied.js";
