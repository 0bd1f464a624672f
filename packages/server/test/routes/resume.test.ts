import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { JobDetails } from "@imprint/contracts";
import { expect, test } from "vitest";
import { makeFolder, type Service, startLora, startService, trainerWith } from "../support/service.js";
import { makeSession, putSession } from "../support/session.js";

const NOBODY = "0".repeat(26);
const BODY = { session_id: "s1", adapter_id: "mine", seed: 7, epochs: 2, rank: 4, metadata: { team: "a" } };

const checkpoints = ({ dataDir }: Pick<Service, "dataDir">): readonly string[] => readdirSync(join(dataDir, "checkpoints"));
const details = async (service: Service, id: string): Promise<JobDetails> => (await service.get(`/jobs/${id}/details`)).json();
const adapter = async (service: Service, id: string) => (await service.get(`/adapters/${id}`)).json();
const salvage = async (service: Service, id: string, body?: object): Promise<string> => {
  const response = await service.post(`/jobs/${id}/salvage`, body);
  if (response.statusCode !== 202) throw new Error(`not started: ${response.body}`);
  return response.json<{ job_id: string }>().job_id;
};

/** A service with a job that was cancelled after its first step, which is kept. */
const withCancelled = async (flags: Readonly<Record<string, unknown>> = {}) => {
  const gate = join(makeFolder(), "gate");
  const service = await startService({ behaviour: { checkpoint: true, wait_for: gate }, flags });
  putSession(service.dataDir, "s1");
  const id = await startLora(service, BODY);
  await service.reached(id, ({ checkpoint }) => checkpoint !== null);
  service.jobs.cancel(id);
  await service.ended(id);
  writeFileSync(gate, "");
  return { service, id };
};

test("a cancelled training names its checkpoint, and goes on from it under its own adapter id", async () => {
  const { service, id } = await withCancelled();
  const { checkpoint, status } = await details(service, id);
  expect([status, checkpoint]).toEqual(["cancelled", { step: 1, at: expect.stringMatching(/^\d{4}-.*Z$/) }]);
  expect((await service.get(`/jobs/${id}`)).json()).toEqual({ job_id: id, status: "cancelled", adapter_id: null });
  expect(readdirSync(join(service.dataDir, "checkpoints", id)).sort()).toEqual([
    "checkpoint-0000001.safetensors",
    "checkpoint.json",
    "request.json",
  ]);

  const resumed = await startLora(service, { resume_from: id });
  const steps: number[] = [];
  service.jobs.subscribe(({ job_id, progress }) => job_id === resumed && progress && steps.push(progress.step));
  expect(await service.ended(resumed)).toMatchObject({ status: "completed", adapter_id: "mine", checkpoint: null });
  expect(Math.min(...steps)).toBe(2);
  expect((await details(service, resumed)).request).toMatchObject({ ...BODY, resume_from: id, base_model: "test-model" });
  expect(await adapter(service, "mine")).toMatchObject({ partial: null, job_id: resumed, metadata: { team: "a" } });
  expect(checkpoints(service)).toEqual([id]);
});

test("a completed training leaves no checkpoint", async () => {
  const service = await startService({ behaviour: { checkpoint: true } });
  putSession(service.dataDir, "s1");
  const id = await startLora(service, BODY);
  expect(await service.ended(id)).toMatchObject({ status: "completed", checkpoint: null });
  expect(checkpoints(service)).toEqual([]);
  for (const [url, body] of [
    ["/train/lora", { resume_from: id }],
    [`/jobs/${id}/salvage`, {}],
  ] as const) {
    const refused = (await service.post(url, body)).json();
    expect(refused).toMatchObject({ status: 404, code: "CHECKPOINT_NOT_FOUND", detail: expect.stringContaining("mine") });
  }
});

test("a checkpoint is salvaged as a partial adapter; the job's own adapter id stays free for a resume", async () => {
  const { service, id } = await withCancelled();
  const job = await service.ended(await salvage(service, id));
  expect(job).toMatchObject({ status: "completed", adapter_id: expect.stringMatching(/^mine-partial-[0-9a-f]{8}$/) });
  expect(job.request).toMatchObject({ salvage_of: id });
  expect(await adapter(service, String(job.adapter_id))).toMatchObject({
    partial: { step: 1, max_steps: 3 },
    health: "ok",
    metadata: { team: "a" },
  });
  const named = await service.ended(await salvage(service, id, { adapter_id: "rescued", metadata: { why: "demo" } }));
  expect(named.adapter_id).toBe("rescued");
  expect(await adapter(service, "rescued")).toMatchObject({ metadata: { why: "demo" } });
  const again = (await service.post(`/jobs/${id}/salvage`, { adapter_id: "rescued" })).json();
  expect(again).toMatchObject({ status: 409, code: "ADAPTER_ID_TAKEN" });
  expect(await service.ended(await startLora(service, { resume_from: id }))).toMatchObject({ adapter_id: "mine" });
});

test.each([
  ["is killed", { exit: "SIGKILL" }, "WORKER_CRASHED"],
  ["runs out of memory", { fail: { code: "OUT_OF_MEMORY", message: "No memory.", hint: "Less." } }, "OUT_OF_MEMORY"],
])("a trainer that %s fails its job, and what it kept is salvaged and resumed after a restart", async (_how, behaviour, code) => {
  const dataDir = makeFolder();
  const first = await startService({ dataDir, behaviour: { checkpoint: true, ...behaviour } });
  putSession(dataDir, "s1");
  const id = await startLora(first, BODY);
  expect(await first.ended(id)).toMatchObject({ status: "failed", checkpoint: { step: 1 }, error: { code } });
  await first.close(0);

  const second = await startService({ dataDir });
  expect((await second.get(`/jobs/${id}`)).statusCode).toBe(404);
  const salvaged = await second.ended(await salvage(second, id));
  expect(salvaged).toMatchObject({ status: "completed", warnings: [] });
  const resumed = await second.ended(await startLora(second, { resume_from: id, adapter_id: "other", metadata: {} }));
  expect(resumed).toMatchObject({ status: "completed", adapter_id: "other" });
  expect(await adapter(second, "other")).toMatchObject({ metadata: {}, partial: null });
});

test("a resumed training that stops before its next checkpoint can be resumed itself", async () => {
  const { service, id } = await withCancelled();
  await rm(join(service.dataDir, "sessions", "s1.json"));
  const failed = await startLora(service, { resume_from: id });
  expect(await service.ended(failed)).toMatchObject({ status: "failed", error: { code: "SESSION_NOT_FOUND" } });
  expect(checkpoints(service)).toEqual([id]);
  const gate = join(makeFolder(), "gate");
  await service.close(0);

  const second = await startService({ dataDir: service.dataDir, behaviour: { wait_for: gate } });
  putSession(service.dataDir, "s1", makeSession("s1"));
  const stopped = await startLora(second, { resume_from: id });
  await second.reached(stopped, ({ progress }) => progress !== null);
  second.jobs.cancel(stopped);
  expect(await second.ended(stopped)).toMatchObject({ status: "cancelled", checkpoint: { step: 1 } });
  await rm(join(service.dataDir, "checkpoints", id), { recursive: true });
  writeFileSync(gate, "");
  expect(await second.ended(await startLora(second, { resume_from: stopped }))).toMatchObject({ status: "completed" });
});

test("whatever would change the numbers of a resumed training is refused by name", async () => {
  const { service, id } = await withCancelled();
  for (const field of ["seed", "epochs", "rank", "task_type", "base_model"]) {
    const value = { seed: 7, epochs: 2, rank: 4, task_type: "code-gen", base_model: "test-model" }[field];
    const refused = await service.post("/train/lora", { resume_from: id, [field]: value });
    expect(refused.json(), field).toMatchObject({ status: 422, code: "VALIDATION_FAILED", errors: [{ path: `/${field}` }] });
  }
  const both = await service.post("/train/lora", { resume_from: id, session_id: "s1" });
  expect(both.json()).toMatchObject({ status: 422, errors: [{ path: "/resume_from" }] });
  for (const value of ["../x", "", 3, `${id}\n`]) {
    const refused = await service.post("/train/lora", { resume_from: value });
    expect(refused.json(), String(value)).toMatchObject({ status: 422, errors: [{ path: "/resume_from" }] });
  }
  const preview = await service.post("/train/lora/preview", { resume_from: id });
  expect(preview.statusCode).toBe(422);
  const strange = await service.post(`/jobs/${id}/salvage`, { seed: 1 });
  expect(strange.json()).toMatchObject({ status: 422, errors: [{ path: "/seed" }] });
});

test("what is not there or not over can be neither resumed nor salvaged", async () => {
  const gate = join(makeFolder(), "gate");
  const service = await startService({ behaviour: { wait_for: gate } });
  putSession(service.dataDir, "s1");
  const running = await startLora(service, BODY);
  const queued = await startLora(service, { session_id: "s1" });
  await service.reached(running, ({ progress }) => progress !== null);
  const refusals = async (id: string): Promise<readonly string[]> => [
    (await service.post("/train/lora", { resume_from: id })).json().code,
    (await service.post(`/jobs/${id}/salvage`)).json().code,
  ];
  expect(await refusals(running)).toEqual(["JOB_NOT_FINISHED", "JOB_NOT_FINISHED"]);
  expect(await refusals(queued)).toEqual(["JOB_NOT_FINISHED", "JOB_NOT_FINISHED"]);
  expect(await refusals(NOBODY)).toEqual(["CHECKPOINT_NOT_FOUND", "CHECKPOINT_NOT_FOUND"]);
  expect((await service.post("/jobs/..%2f..%2fsessions/salvage")).json().code).toBe("CHECKPOINT_NOT_FOUND");
  service.jobs.cancel(queued);
  service.jobs.cancel(running);
  await service.ended(running);
  expect(await refusals(queued)).toEqual(["CHECKPOINT_NOT_FOUND", "CHECKPOINT_NOT_FOUND"]);
  expect(await refusals(running)).toEqual(["CHECKPOINT_NOT_FOUND", "CHECKPOINT_NOT_FOUND"]);
  expect(checkpoints(service)).toEqual([]);
});

test("a request file that was changed is refused, and starts nothing", async () => {
  const { service, id } = await withCancelled();
  const path = join(service.dataDir, "checkpoints", id, "request.json");
  const good = JSON.parse(readFileSync(path, "utf8"));
  for (const bad of [
    "{",
    JSON.stringify({ ...good, version: 2 }),
    JSON.stringify({ ...good, request: { ...good.request, output_dir: "/tmp" } }),
    JSON.stringify({ ...good, request: { ...good.request, adapter_id: "../../x" } }),
    JSON.stringify({ ...good, request: { ...good.request, session_ids: ["../../x"] } }),
  ]) {
    writeFileSync(path, bad);
    expect((await service.post("/train/lora", { resume_from: id })).json(), bad).toMatchObject({ code: "CHECKPOINT_INVALID" });
  }
  await rm(path);
  expect((await service.post(`/jobs/${id}/salvage`)).json()).toMatchObject({ status: 422, code: "CHECKPOINT_INVALID" });
  expect(service.jobs.list({ limit: 9 }).jobs).toHaveLength(1);
});

test("a salvage that is refused by the trainer registers nothing and leaves the checkpoint", async () => {
  const { service, id } = await withCancelled();
  await rm(join(service.dataDir, "checkpoints", id, "checkpoint-0000001.safetensors"));
  const job = await service.ended(await salvage(service, id));
  expect(job).toMatchObject({ status: "failed", adapter_id: null });
  expect((await service.get("/adapters")).json().adapters).toEqual([]);
  expect(existsSync(join(service.dataDir, "checkpoints", id, "checkpoint.json"))).toBe(true);
});

test("a trainer that passes a checkpoint off as a whole training is not believed", async () => {
  const { service, id } = await withCancelled();
  const { dataDir } = service;
  await service.close(0);
  const second = await startService({ dataDir, command: trainerWith({ result: { partial: { step: 1, max_steps: 3 } } }) });
  const fresh = await second.ended(await startLora(second, { session_id: "s1" }));
  expect(fresh).toMatchObject({ status: "failed", error: { code: "WORKER_PROTOCOL" } });
  expect(await second.ended(await salvage(second, id))).toMatchObject({ status: "completed" });
});

test("beyond the checkpoints that are kept the oldest go, but none that a waiting or running job goes on from", async () => {
  const gate = join(makeFolder(), "gate");
  const service = await startService({ behaviour: { checkpoint: true, wait_for: gate }, limits: { keepCheckpoints: 1 } });
  putSession(service.dataDir, "s1");
  const stopped = async (): Promise<string> => {
    const id = await startLora(service, { session_id: "s1" });
    await service.reached(id, ({ checkpoint }) => checkpoint !== null);
    service.jobs.cancel(id);
    await service.ended(id);
    return id;
  };
  const [first, second] = [await stopped(), await stopped()];
  await expect.poll(() => checkpoints(service)).toEqual([second]);
  expect((await service.post("/train/lora", { resume_from: first })).json()).toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });

  const running = await startLora(service, { session_id: "s1" });
  const waiting = await startLora(service, { resume_from: second });
  await service.reached(running, ({ checkpoint }) => checkpoint !== null);
  service.jobs.cancel(running);
  await service.ended(running);
  await expect.poll(() => checkpoints(service)).toContain(running);
  writeFileSync(gate, "");
  expect(await service.ended(waiting)).toMatchObject({ status: "completed" });
  await expect.poll(() => checkpoints(service)).toEqual([running]);
});

test("the same Idempotency-Key salvages once, and another job's checkpoint is another call", async () => {
  const fail = { code: "OUT_OF_MEMORY", message: "No memory.", hint: "Less." };
  const service = await startService({ behaviour: { checkpoint: true, fail } });
  putSession(service.dataDir, "s1");
  const [first, second] = [await startLora(service, { session_id: "s1" }), await startLora(service, { session_id: "s1" })];
  await service.ended(second);
  const call = (jobId: string) =>
    service.call({ method: "POST", url: `/jobs/${jobId}/salvage`, headers: { "idempotency-key": "k" } });
  const salvaging = (await call(first)).json();
  expect((await call(first)).json()).toEqual(salvaging);
  expect((await call(second)).json()).toMatchObject({ code: "IDEMPOTENCY_CONFLICT" });
});
