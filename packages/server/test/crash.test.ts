import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { AdapterList, JobRecord } from "@imprint/contracts";
import Libsql from "libsql";
import { beforeAll, expect, test, vi } from "vitest";
import { build, gone, type Process, startProcess, workerPid } from "./support/process.js";
import { createRandom } from "./support/random.js";
import { makeFolder } from "./support/service.js";
import { putSession } from "./support/session.js";

beforeAll(build, 120_000);

const ROUNDS = 25;

const json = async <T>(service: Process, path: string): Promise<T> => (await service.fetch(path)).json() as Promise<T>;

test("killed in the middle of a job and started again: no trainer, no staging folder, no half adapter is left", async () => {
  const folder = makeFolder();
  const dataDir = join(folder, "data");
  const first = await startProcess(folder, { behaviour: { wait_for: join(folder, "never"), wait_in: "saving" } });
  putSession(dataDir, "s1");
  const id = await first.start({ session_id: "s1", adapter_id: "half" });
  await vi.waitFor(
    async () => {
      if ((await json<{ phase: string }>(first, `/jobs/${id}/details`)).phase !== "saving") throw new Error("not saving yet");
    },
    { timeout: 10_000, interval: 10 },
  );
  const worker = workerPid(folder) ?? 0;
  first.child.kill("SIGKILL");
  expect(await first.ended).toEqual([null, "SIGKILL"]);
  await gone(worker);

  const second = await startProcess(folder);
  expect((await second.fetch(`/jobs/${id}`)).status).toBe(404);
  expect(readdirSync(join(dataDir, "adapters", ".staging"))).toEqual([]);
  expect(await json(second, "/adapters")).toEqual({ adapters: [], next: null });
  // Nothing holds on to the id.
  const again = await second.start({ session_id: "s1", adapter_id: "half" });
  await vi.waitFor(async () =>
    expect(await json(second, `/jobs/${again}`)).toMatchObject({ status: "completed", adapter_id: "half" }),
  );
});

test(`killed at ${ROUNDS} random instants, the registry never loses what it acknowledged and never lists what is not whole`, async () => {
  const folder = makeFolder();
  const dataDir = join(folder, "data");
  putSession(dataDir, "s1");
  const random = createRandom(20260101);
  const acknowledged = new Set<string>();

  const inspect = async (service: Process): Promise<void> => {
    const { adapters } = await json<AdapterList>(service, "/adapters?limit=1000");
    const listed = adapters.map(({ adapter_id }) => adapter_id);
    for (const id of acknowledged) expect(listed).toContain(id);
    for (const { adapter_id } of adapters) expect(await json(service, `/adapters/${adapter_id}`)).toMatchObject({ health: "ok" });
    const folders = readdirSync(join(dataDir, "adapters")).filter((name) => !name.startsWith("."));
    expect(folders.sort()).toEqual(listed.sort());
    expect(readdirSync(join(dataDir, "adapters", ".staging"))).toEqual([]);
  };

  for (let round = 0; round < ROUNDS; round += 1) {
    const service = await startProcess(folder);
    await inspect(service);
    for (let job = 0; job < 4; job += 1) await service.start({ session_id: "s1", adapter_id: `r${round}-${job}` });
    await delay(random() * 600);
    const { jobs } = await json<{ jobs: JobRecord[] }>(service, "/jobs");
    for (const { adapter_id } of jobs) if (adapter_id !== null) acknowledged.add(adapter_id);
    service.child.kill("SIGKILL");
    await service.ended;
  }

  await inspect(await startProcess(folder));
  expect(acknowledged.size).toBeGreaterThan(0);
  const file = new Libsql(join(dataDir, "registry.db"));
  expect(file.prepare("pragma integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  file.close();
}, 300_000);
