import { existsSync } from "node:fs";
import { createClient, type Imprint } from "@imprint/client";
import { type Config, loadConfig } from "@imprint/server/configuration";
import type { ServiceOptions } from "../context.js";
import { UsageError } from "../errors.js";
import type { Io } from "../io.js";
import { discover } from "./discover.js";

/** The service that a command talks to. */
export interface Service {
  readonly client: Imprint;
  readonly url: string;
  /** True when this process runs it: its jobs end with the command. */
  readonly own: boolean;
  readonly close: () => Promise<void>;
}

const nothing = async (): Promise<void> => undefined;

export const configFor = (options: ServiceOptions, env: NodeJS.ProcessEnv): Config =>
  loadConfig({ flags: { data_dir: options.dataDir }, env });

const clientOf = (url: string, token: string | null): Imprint =>
  createClient({ baseUrl: url, ...(token === null ? {} : { token }) });

/** A service for the length of one command: any free port of this machine, and a log only when one was asked for. */
async function startOwn(config: Config): Promise<Service> {
  const log_level = config.origins.log_level === "default" ? "silent" : config.settings.log_level;
  const settings = { ...config.settings, host: "127.0.0.1", port: 0, log_level };
  const { startServer } = await import("@imprint/server");
  const { url, close } = await startServer({ ...config, settings });
  const client = clientOf(url, config.token);
  // A command that ends waits for no job.
  return { client, url, own: true, close: () => close(0) };
}

interface Running extends Pick<Service, "client" | "url"> {
  readonly token: string | null;
}

const checkAddress = (url: string): void => {
  if (!/^https?:\/\/./.test(url) || !URL.canParse(url))
    throw new UsageError(`--url ${url} is no address: write http://127.0.0.1:7878`);
};

/** A service that others may ask as well: at `--url`, else on the data directory. Throws a UsageError where none answers. */
export async function runningService({ io, options }: { io: Io; options: ServiceOptions }): Promise<Running> {
  const { token, settings } = configFor(options, io.env);
  if (options.url !== undefined) {
    checkAddress(options.url);
    const client = clientOf(options.url, token);
    const answers = await client.health({ maxRetries: 0 }).then(
      ({ service }) => service === "imprint",
      () => false,
    );
    if (!answers) throw new UsageError(`no service answers at ${options.url}: ${io.name} serve starts one`);
    return { client, url: options.url, token };
  }
  const found = await discover({ dataDir: settings.data_dir, token });
  if (found === null) throw new UsageError(`no service runs on ${settings.data_dir}: ${io.name} serve starts one`);
  return { ...found, token };
}

/** The service at `--url`, else the one that runs on the data directory, else one in this process. */
async function connect({
  io,
  options,
  note,
}: {
  io: Io;
  options: ServiceOptions;
  note: (text: string) => void;
}): Promise<Service> {
  const config = configFor(options, io.env);
  if (options.url !== undefined) {
    checkAddress(options.url);
    return { client: clientOf(options.url, config.token), url: options.url, own: false, close: nothing };
  }
  const found = await discover({ dataDir: config.settings.data_dir, token: config.token });
  if (found !== null) return { ...found, own: false, close: nothing };
  const { data_dir } = config.settings;
  const place = existsSync(data_dir) ? data_dir : `${data_dir}, which is new and holds nothing yet`;
  note(`No service runs on ${place}: this command runs its own. ${io.name} serve keeps one running.`);
  return startOwn(config);
}

/** Runs `use` with a service and closes what was started for it. */
export async function withService<T>(
  given: { io: Io; options: ServiceOptions; note: (text: string) => void },
  use: (service: Service) => Promise<T>,
): Promise<T> {
  const service = await connect(given);
  try {
    return await use(service);
  } finally {
    await service.close();
  }
}
