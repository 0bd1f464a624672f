import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../src/common/clock.js";
import type { FakeHead } from "../../fixtures/ray/fake-head.js";
import { makeFolder, type Service, startLora, startService, trainerWith } from "../../support/service.js";
import { putSession } from "../../support/session.js";
import { temporaryFolder } from "../support.js";
import { headOf, PYTHON, SOURCES } from "./support.js";

const TOKEN = "a-token-of-the-cluster";

export interface Cluster {
  readonly head: FakeHead;
  readonly dataDir: string;
  readonly storage: string;
  /** Lets trainers go on. */
  readonly go: () => void;
  /** A service on the cluster, on the same data directory each time. */
  readonly open: (flags?: object) => Promise<Service>;
}

export const cluster = async (behaviour: object = {}): Promise<Cluster> => {
  const head = await headOf({ token: TOKEN });
  const [storage, dataDir] = [join(temporaryFolder(), "storage"), makeFolder()];
  mkdirSync(join(dataDir, "trainer"));
  symlinkSync(SOURCES, join(dataDir, "trainer", "src")); // the data directory of a test is its checkout too
  putSession(dataDir, "s1");
  const wait_for = join(temporaryFolder(), "go");
  const ray_token_file = join(dataDir, "ray.token");
  writeFileSync(ray_token_file, TOKEN, { mode: 0o600 });
  const given = { runner: "ray", ray_address: head.address, ray_token_file, ray_python: PYTHON, storage, heartbeat_timeout: 2 };
  const open = (flags: object = {}): Promise<Service> =>
    startService({ dataDir, command: trainerWith({ wait_for, ...behaviour }), flags: { ...given, ...flags } });
  return { head, dataDir, storage, go: () => writeFileSync(wait_for, ""), open };
};

export const inTraining = async (service: Service, body: object = {}): Promise<string> => {
  const id = await startLora(service, { session_id: "s1", adapter_id: "a1", ...body });
  await service.reached(id, ({ progress }) => progress !== null);
  return id;
};
export const jobsOn = (storage: string): readonly string[] => {
  const instances = join(storage, "jobs");
  return readdirSync(instances).flatMap((instance) => readdirSync(join(instances, instance)));
};

/** Looks until it is so: what happens on the cluster tells nobody here. */
export const until = async (so: () => boolean): Promise<void> => {
  while (!so()) await new Promise<void>((resolve) => void systemClock().after(20, resolve));
};
