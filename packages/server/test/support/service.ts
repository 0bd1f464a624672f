import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { InjectOptions, LightMyRequestResponse } from "fastify";
import { onTestFinished } from "vitest";
import type { Clock } from "../../src/common/clock.js";
import type { Limits } from "../../src/config/limits.js";
import { type Config, loadConfig } from "../../src/config/load.js";
import type { Job } from "../../src/jobs/job.js";
import type { WorkerCommand } from "../../src/runners/local/local-runner.js";
import { type RunningServer, startServer } from "../../src/server.js";

const TRAINER = fileURLToPath(new URL("../fixtures/workers/trainer.mjs", import.meta.url));

/** The model that requests of tests train for: the fixture trainer loads none. */
export const MODEL = "test-model";

export const trainerWith = (behaviour: object = {}): WorkerCommand => ({
  file: process.execPath,
  args: [TRAINER, JSON.stringify(behaviour)],
});

/** A folder that passes for a base model's: the fixture trainer loads none. */
export const makeModel = (folder: string, files: readonly string[] = ["config.json", "model.safetensors"]): string => {
  mkdirSync(folder, { recursive: true });
  for (const file of files) writeFileSync(join(folder, file), "{}");
  return folder;
};

/** A folder of the test's own, removed when it ends. */
export const makeFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "imprint-server-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }), 60_000);
  return folder;
};

export const configFor = (dataDir: string, flags: Readonly<Record<string, unknown>> = {}): Config =>
  loadConfig({
    flags: { data_dir: dataDir, port: 0, base_model: MODEL, log_level: "silent", ...flags },
    env: {},
    home: dataDir,
    repoRoot: dataDir,
  });

/** A file that the service takes a secret from. */
export const secretFile = (secret: string): string => {
  const file = join(makeFolder(), "secret");
  writeFileSync(file, `${secret}\n`, { mode: 0o600 });
  return file;
};

export interface Service extends RunningServer {
  readonly dataDir: string;
  /** A request that the host guard lets pass. */
  call(options: InjectOptions): Promise<LightMyRequestResponse>;
  get(url: string): Promise<LightMyRequestResponse>;
  post(url: string, payload?: object | string): Promise<LightMyRequestResponse>;
  /** The job once it has ended. */
  ended(jobId: string): Promise<Job>;
  /** The job once `reached` holds. */
  reached(jobId: string, reached: (job: Job) => boolean): Promise<Job>;
}

const waitFor = ({ jobs }: RunningServer, jobId: string, reached: (job: Job) => boolean): Promise<Job> =>
  new Promise((resolve) => {
    const look = (job: Job | undefined): void => {
      if (job?.job_id !== jobId || !reached(job)) return;
      stop();
      resolve(job);
    };
    const stop = jobs.subscribe(look);
    look(jobs.get(jobId));
  });

/** A running service with the fixture trainer, closed when the test ends. */
export const startService = async ({
  dataDir = makeFolder(),
  flags,
  behaviour,
  command = trainerWith(behaviour),
  clock,
  limits,
}: {
  readonly dataDir?: string;
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly behaviour?: object;
  readonly command?: WorkerCommand;
  readonly clock?: Clock;
  readonly limits?: Partial<Limits>;
} = {}): Promise<Service> => {
  makeModel(join(dataDir, "models", MODEL));
  const server = await startServer(configFor(dataDir, flags), {
    command,
    limits: { cancelGraceMs: 1000, ...limits },
    ...(clock && { clock }),
  });
  onTestFinished(() => server.close(0));
  const host = new URL(server.url).host;
  const call = ({ headers, ...options }: InjectOptions): Promise<LightMyRequestResponse> =>
    server.app.inject({ ...options, headers: { host, ...headers } });
  return {
    ...server,
    dataDir,
    call,
    get: (url) => call({ method: "GET", url }),
    post: (url, payload) =>
      call({
        method: "POST",
        url,
        ...(payload === undefined ? {} : { payload, headers: { "content-type": "application/json" } }),
      }),
    reached: (jobId, reached) => waitFor(server, jobId, reached),
    ended: (jobId) => waitFor(server, jobId, ({ status }) => ["completed", "failed", "cancelled"].includes(status)),
  };
};

/** Starts a LoRA job and answers its id. */
export const startLora = async (service: Service, body: Readonly<Record<string, unknown>>): Promise<string> => {
  const response = await service.post("/train/lora", body);
  if (response.statusCode !== 200) throw new Error(`not started: ${response.body}`);
  return response.json<{ job_id: string }>().job_id;
};
