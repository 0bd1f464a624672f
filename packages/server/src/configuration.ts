// What a program needs to know of the service without loading it: a package entry of its own.

export { chooseEngine, LLAMA_CPP_TYPES } from "./chat/choose.js";
export { lookAtUpstream, type UpstreamLook } from "./chat/upstream/models.js";
export { CannotStartError, ConfigError, diskRefusal, whyNotWritten } from "./common/error.js";
export { type Config, type LoadOptions, loadConfig, type Origin } from "./config/load.js";
export { asFolder } from "./config/paths.js";
export { SETTING_NAMES, type SettingName, Settings } from "./config/schema.js";
export { findRepoRoot, readSetup, type Setup } from "./config/setup.js";
export { environmentName, flagName } from "./config/sources.js";
export { hypernetworkFolders } from "./models/base-model.js";
export { commandEnvironment } from "./runners/local/environment.js";
export { makeFolder } from "./storage/paths.js";
