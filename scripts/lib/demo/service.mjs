import path from "node:path";
import { createClient } from "../../../packages/client/dist/index.js";
import { loadConfig, startServer } from "../../../packages/server/dist/index.js";

/** The real service on a free loopback port, and a client for it. */
export async function startDemoService({ dataDir, flags = {} }) {
  const config = loadConfig({ flags: { data_dir: dataDir, host: "127.0.0.1", port: 0, log_level: "error", ...flags } });
  const server = await startServer(config);
  const token = config.token === null ? {} : { token: config.token };
  return {
    url: server.url,
    client: createClient({ baseUrl: server.url, ...token }),
    // The setting may be a folder; the service knows its model by the folder's name.
    baseModel: path.isAbsolute(config.settings.base_model)
      ? path.basename(config.settings.base_model)
      : config.settings.base_model,
    close: () => server.close(0),
  };
}
