import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { startLora } from "../../support/service.js";
import { cluster, inTraining, jobsOn, until } from "./cluster.js";

vi.setConfig({ testTimeout: 90_000 }); // two services and their processes, on whatever machine

test("a training on the cluster is registered like one of this machine, asks for what its memory plan says, and leaves nothing", async () => {
  const { open, go, storage, head } = await cluster({ memory: { total_mb: 1234 } });
  go();
  const service = await open({ ray_cpus: 3 });
  const id = await startLora(service, { session_id: "s1", adapter_id: "a1" });
  expect(await service.ended(id)).toMatchObject({ status: "completed", adapter_id: "a1" });
  expect((await service.get("/adapters/a1")).json()).toMatchObject({ adapter_id: "a1", health: "ok" });
  expect(head.submissions).toMatchObject([{ entrypoint_num_cpus: 3, entrypoint_memory: 1_234_000_000 }]);
  expect(jobsOn(storage)).toEqual([]);
});

test("a job that a service left with --adopt is followed by the next one, under its id, and registered", async () => {
  const { open, go, head } = await cluster();
  const first = await open({ adopt: true });
  const id = await inTraining(first);
  await first.close(0);
  const second = await open({ adopt: true });
  expect(second.jobs.get(id)).toMatchObject({ kind: "lora", reserved_adapter_id: "a1" });
  await second.reached(id, ({ progress }) => progress !== null);
  go();
  expect(await second.ended(id)).toMatchObject({ status: "completed", adapter_id: "a1" });
  expect(head.submissions).toHaveLength(1);
  expect(head.stops).toEqual([]);
});

test("what finished while no service ran is kept, and registered by one that adopts", async () => {
  const { open, go, storage, head } = await cluster();
  const first = await open({ adopt: true });
  const id = await inTraining(first);
  await first.close(0);
  go();
  const [submission] = head.submissions;
  await until(() => head.status(String(submission?.submission_id)) === "SUCCEEDED");
  const second = await open();
  expect((await second.get(`/jobs/${id}`)).statusCode).toBe(404);
  await second.close(0);
  expect(jobsOn(storage)).toEqual([id]);
  const third = await open({ adopt: true });
  expect(await third.ended(id)).toMatchObject({ status: "completed", adapter_id: "a1" });
});

test("a job that a service left is stopped by one that does not adopt, and its checkpoint can be salvaged", async () => {
  const { open, head, dataDir, storage } = await cluster({ checkpoint: true });
  const first = await open({ adopt: true });
  const id = await inTraining(first, { adapter_id: "a2" });
  await first.reached(id, ({ checkpoint }) => checkpoint !== null);
  await first.close(0);
  const second = await open();
  await until(() => jobsOn(storage).length === 0);
  expect(existsSync(join(dataDir, "checkpoints", id, "checkpoint.json"))).toBe(true);
  expect(["STOPPED", "SUCCEEDED"]).toContain(head.status(String(head.submissions[0]?.submission_id)));
  const salvage = await second.post(`/jobs/${id}/salvage`);
  expect(await second.ended(salvage.json().job_id)).toMatchObject({ status: "completed" });
});

test("a service that closes stops its jobs on the cluster, and says so", async () => {
  const { open, storage } = await cluster();
  const service = await open();
  const id = await inTraining(service);
  const ended = service.ended(id);
  await service.close(0);
  expect(await ended).toMatchObject({ status: "failed", error: { code: "SHUTTING_DOWN" } });
  expect(jobsOn(storage)).toEqual([]);
});

test("a head that dies in mid-job fails it with the reason, the service goes on, and nothing is half-registered", async () => {
  const { open, head } = await cluster();
  const service = await open({ ray_patience: 3 });
  const id = await inTraining(service);
  head.behaviour.cut = true;
  head.kill("SIGKILL");
  expect(await service.ended(id)).toMatchObject({ status: "failed", error: { code: "CLUSTER_UNREACHABLE" } });
  expect((await service.get("/health")).statusCode).toBe(200);
  expect((await service.get("/adapters")).json()).toEqual({ adapters: [], next: null });
});

test("a cancel ends a job in mid-training, and its id is free again", async () => {
  const { open, go } = await cluster();
  const service = await open();
  const id = await inTraining(service);
  await service.post(`/jobs/${id}/cancel`);
  expect(await service.ended(id)).toMatchObject({ status: "cancelled" });
  go();
  const again = await startLora(service, { session_id: "s1", adapter_id: "a1" });
  expect(await service.ended(again)).toMatchObject({ status: "completed", adapter_id: "a1" });
});
