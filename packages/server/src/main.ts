import { loadConfig } from "./config/load.js";
import { runServer } from "./run.js";

await runServer(loadConfig(), { onListening: ({ url }) => process.stdout.write(`Imprint listens on ${url}\n`) });
process.exit();
