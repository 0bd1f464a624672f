import { ConfigError } from "./common/error.js";
import { loadConfig } from "./config/load.js";
import { runServer } from "./run.js";

try {
  await runServer(loadConfig(), { onListening: ({ url }) => process.stdout.write(`Imprint listens on ${url}\n`) });
  process.exit();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(error instanceof ConfigError ? 2 : 1);
}
