import { rmSync } from "node:fs";
import type { InjectOptions } from "fastify";
import { baseModelsOf, hypernetworkFolders } from "../../src/models/base-model.js";
import { localPlaces, resolveTask } from "../../src/runners/reference.js";
import { type RunningServer, startServer } from "../../src/server.js";
import { dataPaths } from "../../src/storage/paths.js";
import type { ManualClock } from "../common/manual-clock.js";
import { configFor, MODEL, makeModel } from "../support/service.js";
import { disk, type Fault, mount } from "./disk.js";
import { createTrainer, type Trainer } from "./trainer.js";

const SLOTS = 2;
/** How many of a kind run at once: an export has a place of its own beside the slots. */
export const placesOf = (kind: string): { readonly kinds: (other: string) => boolean; readonly most: number } =>
  kind === "export" ? { kinds: (other) => other === "export", most: 1 } : { kinds: (other) => other !== "export", most: SLOTS };

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A service over one data directory, as its clients and who looks at the disk know it. */
export interface Asked {
  readonly dataDir: string;
  call(options: InjectOptions): Promise<Answer>;
  /** Adapters that a training may still make. */
  making(): Promise<ReadonlySet<string>>;
}

/** One whose clock, disk and trainer are the simulation's. */
export interface World extends Asked {
  readonly clock: ManualClock;
  readonly trainer: Trainer;
  readonly server: RunningServer;
  /** Lets all that was begun come to where it waits for the trainer, or to its end. */
  settle(): Promise<void>;
  /** Stops it, which may meet `fault`. */
  stop(fault?: Fault | null): Promise<void>;
  /** Stops it, and removes its data directory. */
  remove(): Promise<void>;
}

const PATIENCE_MS = 20_000;

/** Starts the service, whose first tries may meet `fault`: it starts all the same, or not at all. */
export const startWorld = async (dataDir: string, clock: ManualClock, fault: Fault | null = null): Promise<World> => {
  makeModel(`${dataDir}/models/${MODEL}`);
  const config = configFor(dataDir, { slots: SLOTS });
  const models = baseModelsOf(config);
  const places = localPlaces({ paths: dataPaths(dataDir), models, hypernetworks: hypernetworkFolders(config) });
  const trainer = createTrainer((task) => resolveTask(task, places));
  const start = () => startServer(config, { clock, runner: trainer.runner, limits: { cancelGraceMs: 1000 } });
  mount(dataDir);
  disk.fault = fault;
  const server = await start().catch((error: unknown) => {
    if (disk.failed.length === 0) throw error;
    disk.fault = null;
    return start();
  });
  disk.fault = null;
  const stop = async (met: Fault | null = null): Promise<void> => {
    if (met) disk.fault = met;
    else mount(null);
    await server.close(0);
  };
  const host = new URL(server.url).host;
  return {
    dataDir,
    clock,
    trainer,
    server,
    async call({ headers, ...options }) {
      const { statusCode, body } = await server.app.inject({ ...options, headers: { host, ...headers } });
      return { status: statusCode, body };
    },
    async making() {
      const { jobs } = server.jobs.list({ limit: 1000 });
      const trainings = jobs.filter(({ kind, finished_at }) => kind === "lora" && finished_at === null);
      return new Set(trainings.map(({ request }) => String(request.adapter_id)));
    },
    async settle() {
      const isStill = (): boolean => {
        const [running, queued] = (["running", "queued"] as const).map((status) => server.jobs.list({ status, limit: 100 }).jobs);
        const held = new Set(trainer.running());
        const isWaiting = ({ kind }: { readonly kind: string }): boolean => {
          const { kinds, most } = placesOf(kind);
          return (running ?? []).filter((one) => kinds(one.kind)).length === most;
        };
        return disk.pending === 0 && (running ?? []).every(({ job_id }) => held.has(job_id)) && (queued ?? []).every(isWaiting);
      };
      const said = (): string =>
        server.jobs
          .list({ limit: 100 })
          .jobs.filter(({ finished_at }) => finished_at === null)
          .map(({ kind, status, phase, job_id }) => `${kind} ${status} ${phase} ${trainer.running().includes(job_id)}`)
          .join(", ");
      const until = performance.now() + PATIENCE_MS;
      for (let still = 0; still < 3; still = isStill() ? still + 1 : 0) {
        if (performance.now() > until)
          throw new Error(`something that was begun neither ends nor waits for the trainer: ${said()}`);
        clock.advance(0);
        await new Promise(setImmediate);
      }
    },
    stop,
    async remove() {
      await stop();
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
};
