import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient, type Imprint } from "@imprint/client";
import { expect, vi } from "vitest";
import type { Asked } from "../simulate/world.js";
import { processIds } from "../support/children.js";
import { prepared } from "../support/prepared.js";
import { isAlive, type Process, startProcess, workerPid } from "../support/process.js";

/** The real service and trainer as processes, over one data directory. */
export interface Killable extends Asked {
  readonly service: Process;
  readonly client: Imprint;
  /** Milliseconds that the slowest answer of the health check took so far; without end of one that failed. */
  readonly slowest: () => number;
  /** Kills the trainer that was started last, or the service; whether it did. */
  kill(victim: Victim): Promise<boolean>;
}

export type Victim = "service" | "trainer";

/** Processes that were started for a folder, which is their home. */
const processesOf = (folder: string): readonly number[] =>
  processIds().filter((pid) => {
    try {
      return isAlive(pid) && readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(`HOME=${folder}`);
    } catch {
      return false; // it is gone, or somebody else's
    }
  });

/** Asks for the health of a service until it is killed. */
const watchHealth = (service: Process, isKilled: () => boolean) => {
  let slowest = 0;
  const watching = (async () => {
    while (!isKilled()) {
      const asked = performance.now();
      const answer = await service.fetch("/health").catch(() => null);
      if (isKilled()) return;
      slowest = Math.max(slowest, answer?.status === 200 ? performance.now() - asked : Number.POSITIVE_INFINITY);
      await delay(50);
    }
  })();
  return { slowest: () => slowest, watching };
};

export const startKillable = async (folder: string, options: Parameters<typeof startProcess>[1] = {}): Promise<Killable> => {
  const { python, default_model } = prepared();
  const env = { IMPRINT_BASE_MODEL: default_model, ...options.env };
  const service = await startProcess(folder, { python, ...options, env });
  let killed = false;
  const health = watchHealth(service, () => killed);
  const client = createClient({ baseUrl: service.url, maxRetries: 0 });
  return {
    dataDir: join(folder, "data"),
    service,
    client,
    slowest: health.slowest,
    async call({ method, url, payload, headers }) {
      const isText = typeof payload === "string";
      const body = payload === undefined ? {} : { body: isText ? payload : JSON.stringify(payload) };
      const type = payload === undefined || isText ? {} : { "content-type": "application/json" };
      const answer = await service.fetch(String(url), {
        method: method ?? "GET",
        ...body,
        headers: { ...type, ...Object(headers) },
      });
      return { status: answer.status, body: await answer.text() };
    },
    async making() {
      const { jobs } = await client.jobs.list({ limit: 100 });
      const going = jobs.filter(({ status }) => status === "queued" || status === "running");
      return new Set(going.flatMap(({ reserved_adapter_id }) => reserved_adapter_id ?? []));
    },
    async kill(victim) {
      const trainer = workerPid(folder);
      if (victim === "trainer") return trainer !== null && isAlive(trainer) && process.kill(trainer, "SIGKILL");
      killed = true;
      service.child.kill("SIGKILL");
      await Promise.all([service.ended, health.watching]);
      await vi.waitFor(() => expect(processesOf(folder)).toEqual([]), { timeout: 8_000, interval: 20 });
      return true;
    },
  };
};
