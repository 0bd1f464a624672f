import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { JobDetails, JobRecord, PreviewReport } from "@imprint/contracts";
import { Check } from "typebox/value";
import { expect, test } from "vitest";
import { MODEL, makeFolder, makeModel, type Service, startLora, startService } from "../support/service.js";
import { makeSession, putSession } from "../support/session.js";

test("a LoRA job goes from queued to completed, and its adapter is listed", async () => {
  const service = await startService();
  putSession(service.dataDir, "s1");
  const started = await service.post("/train/lora", { session_id: "s1", adapter_id: "mine", epochs: 2, metadata: { team: "a" } });
  expect(started.statusCode).toBe(200);
  expect(started.json()).toEqual({ job_id: expect.stringMatching(/^[0-9a-hjkmnp-tv-z]{26}$/), status: "queued" });

  const { job_id } = started.json<{ job_id: string }>();
  await service.ended(job_id);
  const record = (await service.get(`/jobs/${job_id}`)).json();
  expect(record).toEqual({ job_id, status: "completed", adapter_id: "mine" });
  expect(Check(JobRecord, record)).toBe(true);

  const details = (await service.get(`/jobs/${job_id}/details`)).json();
  expect(Check(JobDetails, details)).toBe(true);
  expect(details.request).toMatchObject({ epochs: 2, rank: 16, alpha: 32, base_model: MODEL, seed: expect.any(Number) });

  const { adapters } = (await service.get("/adapters")).json();
  expect(adapters).toHaveLength(1);
  expect(adapters[0]).toMatchObject({ adapter_id: "mine", job_id, health: "ok", metadata: { team: "a" }, method: "lora" });
  expect(readdirSync(join(service.dataDir, "adapters", ".staging"))).toEqual([]);
});

test("without adapter_id and seed both are made up and recorded", async () => {
  const service = await startService();
  putSession(service.dataDir, "Fix.Login_1");
  const job = await service.ended(await startLora(service, { session_id: "Fix.Login_1", task_type: "Bug Fix" }));
  expect(job.adapter_id).toMatch(/^bug-fix-fix-login-1-[0-9a-f]{8}$/);
  expect(job.request.adapter_id).toBe(job.adapter_id);
});

test("further trajectories are named in a warning", async () => {
  const service = await startService();
  putSession(service.dataDir, "t1");
  const started = await service.post("/train/hypernetwork", { trajectory_ids: ["t1", "t2", "t3"] });
  expect(started.statusCode).toBe(200);
  const job = await service.ended(started.json<{ job_id: string }>().job_id);
  expect(job).toMatchObject({ status: "completed", kind: "hypernetwork", request: { session_id: "t1" } });
  expect(job.warnings.join()).toContain("t2, t3");
});

test("an empty list of trajectories is refused", async () => {
  const service = await startService();
  const response = await service.post("/train/hypernetwork", { trajectory_ids: [] });
  expect(response.statusCode).toBe(422);
  expect(response.json().errors[0].path).toBe("/trajectory_ids");
});

test.each([
  ["missing", null, "SESSION_NOT_FOUND"],
  ["torn", '{"schema_version": 1, "source": {"form', "SESSION_INVALID"],
  ["of another shape", '{"schema_version": 1, "source": {}}', "SESSION_INVALID"],
  ["empty", JSON.stringify(makeSession("s", { steps: [] })), "NOTHING_TO_TRAIN"],
  ["unsuccessful", JSON.stringify(makeSession("s", { outcome: "failure" })), "SESSION_UNSUCCESSFUL"],
])("a session that is %s fails the job and names the session", async (_case, content, code) => {
  const service = await startService();
  if (content !== null) putSession(service.dataDir, "the-session", content);
  const job = await service.ended(await startLora(service, { session_id: "the-session" }));
  expect(job).toMatchObject({ status: "failed", adapter_id: null, error: { code } });
  expect(job.error?.message).toContain("the-session");
  expect((await service.get(`/jobs/${job.job_id}`)).json()).toMatchObject({ status: "failed", error: job.error?.message });
});

test.each([
  ["missing", null, "SESSION_NOT_FOUND"],
  ["unsuccessful", makeSession("second", { outcome: "failure" }), "SESSION_UNSUCCESSFUL"],
])("a session among several that is %s fails the job by name, and leaves nothing behind", async (_case, content, code) => {
  const service = await startService();
  putSession(service.dataDir, "first");
  if (content !== null) putSession(service.dataDir, "second", content);
  const job = await service.ended(await startLora(service, { session_ids: ["first", "second"], skip_invalid: false }));
  expect(job).toMatchObject({ status: "failed", error: { code, message: expect.stringContaining("second") } });
  expect(readdirSync(join(service.dataDir, "adapters", ".staging"))).toEqual([]);
});

test("the trainer gets every session and what to learn from it", async () => {
  const service = await startService();
  for (const id of ["first", "second"]) putSession(service.dataDir, id);
  const body = { session_ids: ["first", "second"], train_on: "final_answer", reasoning: true, adapter_id: "a" };
  const job = await service.ended(await startLora(service, body));
  expect(job.request).toMatchObject(body);
  const training = JSON.parse(readFileSync(join(service.dataDir, "adapters", "a", "training.json"), "utf8"));
  expect(training.spec).toMatchObject({ session_ids: ["first", "second"], train_on: "final_answer", reasoning: true });
});

test("a preview of several sessions takes the body of their training", async () => {
  const service = await startService();
  for (const id of ["first", "second"]) putSession(service.dataDir, id);
  const body = { session_ids: ["first", "second"], train_on: "successful_steps", rank: 8 };
  const shown = await service.post("/train/lora/preview", body);
  expect(shown.statusCode).toBe(200);
  expect(shown.json()).toMatchObject({ windows: 2, supervised_tokens: 120 });
  expect(readdirSync(join(service.dataDir, "adapters", ".staging"))).toEqual([]);
  const missing = await service.post("/train/lora/preview", { session_ids: ["first", "third"] });
  expect(missing.json()).toMatchObject({ status: 404, code: "SESSION_NOT_FOUND", detail: expect.stringContaining("third") });
  const turns = await service.post("/train/lora/preview", { session_ids: ["first", "second"], train_on: { turns: [1] } });
  expect(turns.json()).toMatchObject({ status: 422, errors: [{ path: "/train_on" }] });
});

test("a preview tells the time from trainings that finished on this machine, also after a restart", async () => {
  const dataDir = makeFolder();
  const shown = (service: Service) => service.post("/train/lora/preview", { session_id: "s1" }).then((answer) => answer.json());
  const first = await startService({ dataDir });
  putSession(dataDir, "s1");
  const unknown = await shown(first);
  expect(unknown).toMatchObject({ max_tokens: 600, estimated_seconds: null });
  expect(unknown.estimate).toContain(`No training of ${MODEL} has finished`);
  await first.ended(await startLora(first, { session_id: "s1" }));
  await first.close(0);
  const again = await startService({ dataDir });
  const known = await shown(again);
  const within = await again.post("/train/lora/preview", { session_id: "s1", within: "20m" });
  expect(within.json().remarks).toEqual(["Within 20m at 1000."]);
  const never = await again.post("/train/lora/preview", { session_id: "s1", within: "soon" });
  expect(never.json()).toMatchObject({ status: 422, errors: [{ path: "/within" }] });
  expect(known.estimated_seconds).toBeCloseTo(0.6);
  expect(known.estimate).toContain("1000 tokens/s of the last training");
  expect(Check(PreviewReport, known)).toBe(true);
});

test("include_unsuccessful trains on a session that did not succeed", async () => {
  const service = await startService();
  putSession(service.dataDir, "lost", makeSession("lost", { outcome: "failure" }));
  const job = await service.ended(await startLora(service, { session_id: "lost", include_unsuccessful: true }));
  expect(job.status).toBe("completed");
});

test("a base model that cannot be used is refused before anything is queued, and named", async () => {
  const outside = makeFolder();
  const service = await startService({ flags: { model_roots: [join(outside, "models")] } });
  putSession(service.dataDir, "s1");
  makeModel(join(outside, "models", "pickled"), ["config.json", "pytorch_model.bin"]);
  for (const [base_model, code] of [
    ["nobody", "BASE_MODEL_NOT_FOUND"],
    ["some/body", "BASE_MODEL_NOT_FOUND"],
    [outside, "BASE_MODEL_NOT_FOUND"],
    [join(outside, "models", "absent"), "BASE_MODEL_NOT_FOUND"],
    [join(outside, "models", "pickled"), "BASE_MODEL_UNSAFE"],
  ]) {
    for (const [route, sessions] of [
      ["/train/lora", { session_id: "s1" }],
      ["/train/lora/preview", { session_id: "s1" }],
      ["/sessions/s1/preview", {}],
      ["/train/hypernetwork", { trajectory_ids: ["s1"] }],
    ] as const) {
      const response = await service.post(route, { ...sessions, base_model });
      expect([response.statusCode, response.json().code], `${route} ${base_model}`).toEqual([422, code]);
      expect(response.json().errors).toEqual([{ path: "/base_model", message: expect.any(String) }]);
      expect(response.body).not.toContain(outside);
    }
  }
  expect((await service.get("/jobs")).json().jobs).toEqual([]);
});

test("a base model is named by a folder of the service's machine in its model_roots, and by its name afterwards", async () => {
  const outside = makeFolder();
  const service = await startService({ flags: { model_roots: [outside] } });
  putSession(service.dataDir, "s1");
  const folder = makeModel(join(outside, "larger-model"));
  const job = await service.ended(await startLora(service, { session_id: "s1", base_model: folder, adapter_id: "a" }));
  expect(job.status).toBe("completed");
  expect((await service.get("/adapters/a")).json().base_model).toBe("larger-model");
  expect((await service.get("/v1/models")).json().data.map(({ id }: { id: string }) => id)).toContain("larger-model");
  const again = await service.ended(await startLora(service, { session_id: "s1", base_model: "larger-model" }));
  expect(again.status).toBe("completed");
});

test("an adapter_id is written once: reserved while the job runs, taken afterwards, also when archived", async () => {
  const gate = join(makeFolder(), "gate");
  const service = await startService({ behaviour: { wait_for: gate } });
  putSession(service.dataDir, "s1");
  const body = { session_id: "s1", adapter_id: "one" };
  const job_id = await startLora(service, body);
  const reserved = await service.post("/train/lora", body);
  expect(reserved.statusCode).toBe(409);
  expect(reserved.json()).toMatchObject({ code: "ADAPTER_ID_TAKEN", errors: [{ path: "/adapter_id" }] });

  const { writeFileSync } = await import("node:fs");
  writeFileSync(gate, "");
  expect((await service.ended(job_id)).status).toBe("completed");
  expect((await service.post("/train/lora", body)).statusCode).toBe(409);
  expect((await service.call({ method: "DELETE", url: "/adapters/one" })).statusCode).toBe(204);
  expect((await service.post("/train/lora", body)).statusCode).toBe(409);
});

test("the same Idempotency-Key and body give the same job; another body is refused", async () => {
  const service = await startService();
  const start = (payload: object, key = "k1") =>
    service.call({
      method: "POST",
      url: "/train/lora",
      payload,
      headers: { "content-type": "application/json", "idempotency-key": key },
    });
  const [first, again] = [await start({ session_id: "s1", epochs: 1 }), await start({ epochs: 1, session_id: "s1" })];
  expect(again.json()).toEqual(first.json());
  const other = await start({ session_id: "s1", epochs: 2 });
  expect(other.statusCode).toBe(409);
  expect(other.json().code).toBe("IDEMPOTENCY_CONFLICT");
  expect((await start({ session_id: "s1" }, "k2")).json().job_id).not.toBe(first.json().job_id);
  expect((await start({ session_id: "s1" }, "bad key")).statusCode).toBe(422);
  const racing = await Promise.all(Array.from({ length: 8 }, () => start({ session_id: "s9" }, "race")));
  expect(new Set(racing.map((response) => response.json().job_id)).size).toBe(1);
});

test("fifty concurrent starts get fifty ids, all retrievable in order", async () => {
  const service = await startService();
  const responses = await Promise.all(Array.from({ length: 50 }, () => service.post("/train/lora", { session_id: "none" })));
  const ids = responses.map((response) => response.json<{ job_id: string }>().job_id);
  expect(new Set(ids).size).toBe(50);
  const listed = (await service.get("/jobs?limit=50")).json<{ jobs: { job_id: string }[] }>().jobs.map(({ job_id }) => job_id);
  expect(listed).toEqual([...ids].sort().reverse());
  for (const id of ids) expect((await service.get(`/jobs/${id}`)).statusCode).toBe(200);
});
