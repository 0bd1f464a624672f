import { type Config, chooseEngine } from "@imprint/server/configuration";
import { type Finding, ok, warning } from "./check.js";

/** Who answers chats, and why. */
export function checkEngine(config: Config): Finding {
  const choice = chooseEngine(config);
  const chosen = `engine from ${config.origins.engine}`;
  if (choice.engine === "llama.cpp")
    return ok("engine", `llama.cpp answers chats (${chosen}); the trainer those of models that it cannot take`);
  if (choice.missing === null) return ok("engine", `the trainer answers chats (${chosen})`);
  return warning(
    "engine",
    "llama.cpp was asked for and is not installed: the trainer answers chats",
    "npm run setup -- --llama-cpp",
  );
}
