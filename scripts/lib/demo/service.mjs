import { fileURLToPath } from "node:url";
import { createClient } from "../../../packages/client/dist/index.js";
import { loadConfig, startServer } from "../../../packages/server/dist/index.js";

export const DATA_DIR = fileURLToPath(new URL("../../../.imprint/demo", import.meta.url));

/** The real service on a free loopback port, and a client for it. `.imprint/demo` is kept: its adapters can be tried afterwards. */
export async function startDemoService() {
  const config = loadConfig({ flags: { data_dir: DATA_DIR, host: "127.0.0.1", port: 0, log_level: "error" } });
  const server = await startServer(config);
  const token = config.token === null ? {} : { token: config.token };
  return {
    url: server.url,
    baseModel: config.settings.base_model,
    client: createClient({ baseUrl: server.url, ...token }),
    close: () => server.close(0),
  };
}
