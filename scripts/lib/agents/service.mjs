import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { loadConfig, startServer } from "../../../packages/server/dist/index.js";

export const MODEL = "tiny-model";

/** What chats without tools say while the script is for those with them: agents ask for titles beside their task. */
const ASIDE = "Open the gates";

/** The real service in `folder`, its model scripted. `end` closes it and resolves with the sessions that it recorded. */
export async function startScripted({ folder, root, script }) {
  const model = path.join(folder, MODEL);
  mkdirSync(model, { recursive: true });
  for (const file of ["config.json", "model.safetensors"]) writeFileSync(path.join(model, file), "{}");
  const trainer = pathToFileURL(path.join(root, "packages", "server", "test", "fixtures", "workers", "trainer.mjs"));
  const withTools = script.some((text) => text.startsWith("<tool_call>"));
  const behaviour = JSON.stringify({ script, ...(withTools && { aside: ASIDE }) });
  const python = path.join(folder, "python");
  writeFileSync(
    python,
    `#!/usr/bin/env node\nprocess.argv[2] = ${JSON.stringify(behaviour)};\nimport(${JSON.stringify(trainer)});\n`,
  );
  chmodSync(python, 0o755);
  const dataDir = path.join(folder, "data");
  const config = loadConfig({
    env: {
      IMPRINT_DATA_DIR: dataDir,
      IMPRINT_PYTHON: python,
      IMPRINT_ENGINE: "transformers",
      IMPRINT_BASE_MODEL: model,
      IMPRINT_PORT: "0",
      IMPRINT_LOG_LEVEL: "silent",
    },
  });
  const server = await startServer(config, { announce: true });
  const end = async () => {
    await server.close(0);
    const sessions = path.join(dataDir, "sessions");
    return readdirSync(sessions)
      .filter((name) => name.endsWith(".json"))
      .map((name) => JSON.parse(readFileSync(path.join(sessions, name), "utf8")));
  };
  return { dataDir, end };
}
