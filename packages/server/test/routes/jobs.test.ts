import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder, startLora, startService } from "../support/service.js";
import { putSession } from "../support/session.js";

test("jobs are listed newest first, in pages and by status", async () => {
  const service = await startService();
  putSession(service.dataDir, "s1");
  const done = await startLora(service, { session_id: "s1" });
  const failed = await startLora(service, { session_id: "none" });
  await service.ended(done);
  await service.ended(failed);
  const list = async (query: string) => (await service.get(`/jobs?${query}`)).json();
  expect((await list("")).jobs.map((job: { job_id: string }) => job.job_id)).toEqual([failed, done]);
  expect((await list("status=completed")).jobs).toMatchObject([{ job_id: done }]);
  const counts = { queued: 0, running: 0, completed: 1, failed: 1, cancelled: 0 };
  for (const query of ["", "status=completed", "limit=1", "prefix=none"]) expect((await list(query)).counts).toEqual(counts);
  const page = await list("limit=1");
  expect(page.next).toBe(failed);
  expect(await list(`limit=1&after=${page.next}`)).toMatchObject({ jobs: [{ job_id: done }], next: null });
});

test("a running job is cancelled, cancelling twice is fine, and a finished one is a conflict", async () => {
  const service = await startService({ behaviour: { wait_for: join(makeFolder(), "never") } });
  putSession(service.dataDir, "s1");
  const id = await startLora(service, { session_id: "s1", adapter_id: "gone" });
  const waiting = await startLora(service, { session_id: "s1" });
  await service.reached(id, ({ progress }) => progress !== null);
  expect((await service.get(`/jobs/${waiting}/details`)).json()).toMatchObject({ status: "queued", queue_position: 1 });

  const cancel = (jobId: string) => service.post(`/jobs/${jobId}/cancel`);
  expect((await cancel(waiting)).json()).toMatchObject({ job_id: waiting, status: "cancelled" });
  expect((await cancel(id)).statusCode).toBe(202);
  expect((await cancel(id)).statusCode).toBe(202);
  expect((await service.ended(id)).status).toBe("cancelled");
  expect((await cancel(id)).json()).toMatchObject({ status: 409, code: "JOB_FINISHED" });
  expect((await service.get("/adapters/gone")).statusCode).toBe(404);
  expect((await service.post(`/jobs/${id}/cancel`, { force: true })).json()).toMatchObject({
    status: 422,
    errors: [{ path: "/force" }],
  });
});

test("beyond max_queued a start is refused with 429 and Retry-After", async () => {
  const service = await startService({ behaviour: { wait_for: join(makeFolder(), "never") }, flags: { max_queued: 1 } });
  putSession(service.dataDir, "s1");
  await service.reached(await startLora(service, { session_id: "s1" }), ({ status }) => status === "running");
  await startLora(service, { session_id: "s1" });
  const refused = await service.post("/train/lora", { session_id: "s1" });
  expect(refused.json()).toMatchObject({ status: 429, code: "QUEUE_FULL" });
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
});

test("a job whose files are refused leaves no adapter", async () => {
  const service = await startService({ behaviour: { damage: "adapter_model.safetensors" } });
  putSession(service.dataDir, "s1");
  const job = await service.ended(await startLora(service, { session_id: "s1", adapter_id: "bad" }));
  expect(job).toMatchObject({ status: "failed", adapter_id: null, error: { code: "ADAPTER_INVALID" } });
  expect((await service.get("/adapters")).json().adapters).toEqual([]);
  expect(JSON.stringify(job.error)).not.toContain(service.dataDir);
});

test("health and starts are answered within 20 ms while a job runs", async () => {
  const gate = join(makeFolder(), "gate");
  const service = await startService({ behaviour: { wait_for: gate } });
  putSession(service.dataDir, "s1");
  const id = await startLora(service, { session_id: "s1" });
  await service.reached(id, ({ progress }) => progress !== null);
  const time = async (run: () => Promise<unknown>): Promise<number> => {
    const times: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      const begin = performance.now();
      await run();
      times.push(performance.now() - begin);
    }
    return times.sort((a, b) => a - b)[10] ?? Number.NaN;
  };
  expect(await time(() => service.get("/health"))).toBeLessThan(20);
  expect(await time(() => service.post("/train/lora", { session_id: "none" }))).toBeLessThan(20);
  writeFileSync(gate, "");
  expect((await service.ended(id)).status).toBe("completed");
});
