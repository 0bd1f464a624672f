import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Export, JobDetails } from "@imprint/contracts";
import { Check } from "typebox/value";
import { expect, test } from "vitest";
import { makeFolder, type Service, startLora, startService } from "../support/service.js";
import { putSession } from "../support/session.js";

const withAdapter = async (behaviour: object = {}): Promise<Service> => {
  const service = await startService({ behaviour });
  putSession(service.dataDir, "s");
  await service.ended(await startLora(service, { session_id: "s", adapter_id: "a" }));
  return service;
};

const startExport = async (service: Service, format: string): Promise<string> => {
  const response = await service.post("/adapters/a/export", { format });
  expect(response.statusCode).toBe(202);
  expect(response.json()).toEqual({ job_id: expect.any(String), status: "queued" });
  return response.json().job_id;
};

const exported = async (service: Service, format = "gguf") => service.ended(await startExport(service, format));

const folderOf = (service: Service, format = "gguf"): string => join(service.dataDir, "exports", "a", format);

test("an export is a job that names the adapter and its files, and proves nothing", async () => {
  const service = await withAdapter();
  const job = await exported(service);
  expect((await service.get(`/jobs/${job.job_id}`)).json()).toEqual({ job_id: job.job_id, status: "completed", adapter_id: "a" });
  const details = (await service.get(`/jobs/${job.job_id}/details`)).json();
  expect(Check(JobDetails, details)).toBe(true);
  expect(details).toMatchObject({
    kind: "export",
    proof: null,
    plan: null,
    request: { adapter_id: "a", format: "gguf", base_model: "test-model" },
    result: { files: [{ name: "a.gguf" }] },
  });
  const found = (await service.get("/adapters/a/exports/gguf")).json();
  expect(Check(Export, found)).toBe(true);
  expect(found).toMatchObject({ adapter_id: "a", format: "gguf", path: "exports/a/gguf", files: details.result.files });
  expect(readdirSync(join(service.dataDir, "adapters", ".staging"))).toEqual([]);
});

test("both formats of one adapter may wait at once, and their files are downloaded whole or in ranges", async () => {
  const service = await withAdapter();
  const jobs = [await startExport(service, "gguf"), await startExport(service, "merged")];
  for (const id of jobs) expect((await service.ended(id)).status).toBe("completed");
  const url = "/adapters/a/exports/gguf/files/a.gguf";
  const bytes = readFileSync(join(folderOf(service), "a.gguf"));
  expect((await service.get(url)).rawPayload).toEqual(bytes);
  const part = await service.call({ method: "GET", url, headers: { range: "bytes=0-3" } });
  expect([part.statusCode, part.body]).toEqual([206, "GGUF"]);
  expect((await service.get("/adapters/a/exports/merged/files/config.json")).statusCode).toBe(200);
  for (const name of ["export.json", "..%2fgguf%2fa.gguf", "a.gguf%00", "none"])
    expect((await service.get(`/adapters/a/exports/merged/files/${name}`)).statusCode).toBe(404);
});

test("who asks for an export that is under way gets its job; after a cancel a new one", async () => {
  const gate = join(makeFolder(), "go");
  const service = await withAdapter({ export: { wait_for: gate } });
  const first = await startExport(service, "gguf");
  await service.reached(first, ({ phase }) => phase === "exporting");
  const others = await Promise.all(Array.from({ length: 10 }, () => startExport(service, "gguf")));
  expect(new Set(others)).toEqual(new Set([first]));
  expect(await startExport(service, "merged")).not.toBe(first);
  await service.post(`/jobs/${first}/cancel`);
  const next = await startExport(service, "gguf");
  expect(next).not.toBe(first);
  writeFileSync(gate, "");
  expect((await service.ended(next)).status).toBe("completed");
});

test("an export waits for no training", async () => {
  const gate = join(makeFolder(), "go");
  writeFileSync(gate, "");
  const service = await withAdapter({ wait_for: gate });
  rmSync(gate);
  const training = await startLora(service, { session_id: "s", adapter_id: "b" });
  const behind = await startLora(service, { session_id: "s", adapter_id: "c" });
  await service.reached(training, ({ progress }) => progress !== null);
  expect((await exported(service)).status).toBe("completed");
  expect([training, behind].map((id) => service.jobs.get(id)?.status)).toEqual(["running", "queued"]);
  writeFileSync(gate, "");
  expect((await service.ended(behind)).status).toBe("completed");
});

test("a repeat with the same Idempotency-Key gets the job of before, also when it has ended; another request is refused", async () => {
  const service = await withAdapter();
  const ask = (format: string) =>
    service.call({ method: "POST", url: "/adapters/a/export", payload: { format }, headers: { "idempotency-key": "once" } });
  const { job_id } = (await ask("gguf")).json();
  await service.ended(job_id);
  expect((await ask("gguf")).json().job_id).toBe(job_id);
  expect((await ask("merged")).json().code).toBe("IDEMPOTENCY_CONFLICT");
});

test("the same export again answers what is there; one that was damaged is made anew", async () => {
  const service = await withAdapter();
  await exported(service);
  const record = join(folderOf(service), "export.json");
  const first = readFileSync(record, "utf8");
  const again = await exported(service);
  expect(again).toMatchObject({ status: "completed", result: { files: [{ name: "a.gguf" }] }, phase: "starting" });
  expect(readFileSync(record, "utf8")).toBe(first);

  writeFileSync(join(folderOf(service), "a.gguf"), "cut");
  expect((await service.get("/adapters/a/exports/gguf")).json()).toMatchObject({ status: 404, code: "EXPORT_NOT_FOUND" });
  expect((await exported(service)).phase).toBe("registering");
  expect((await service.get("/adapters/a/exports/gguf")).statusCode).toBe(200);
  writeFileSync(record, "{}");
  expect((await service.get("/adapters/a/exports/gguf")).statusCode).toBe(404);
});

test("what cannot be exported is refused in a sentence", async () => {
  const service = await withAdapter();
  const refused = async (url: string, body: object) => {
    const { statusCode, body: text } = await service.post(url, body);
    return [statusCode, JSON.parse(text).code, JSON.parse(text).errors?.[0]?.path];
  };
  expect(await refused("/adapters/a/export", { format: "onnx" })).toEqual([422, "VALIDATION_FAILED", "/format"]);
  expect(await refused("/adapters/a/export", {})).toEqual([422, "VALIDATION_FAILED", "/format"]);
  expect(await refused("/adapters/a/export", { format: "gguf", to: "/etc" })).toEqual([422, "VALIDATION_FAILED", "/to"]);
  for (const id of ["none", "..%2fa", "A", "a%00"])
    expect(await refused(`/adapters/${id}/export`, { format: "gguf" })).toEqual([404, "ADAPTER_NOT_FOUND", undefined]);
  for (const format of ["gguf", "..", "%2e%2e", "onnx"])
    expect((await service.get(`/adapters/a/exports/${format}`)).statusCode).toBe(404);
});

test("an adapter that was damaged is not exported", async () => {
  const service = await withAdapter();
  rmSync(join(service.dataDir, "adapters", "a", "adapter_model.safetensors"));
  const job = await exported(service);
  expect(job).toMatchObject({ status: "failed", adapter_id: null, error: { code: "ADAPTER_INVALID" } });
  expect(job.error?.message).toBe("The files of the adapter a are missing.");
});

test.each([
  ["fails", { fail: { code: "EXPORT_UNSUPPORTED", message: "No.", hint: "h" } }, "EXPORT_UNSUPPORTED"],
  ["writes other files than it says", { damage: "a.gguf" }, "TRAINER_ERROR"],
  ["names no files", { result: { files: [] } }, "TRAINER_ERROR"],
  ["answers with a training", { result: { rank: 1, alpha: 1 } }, "WORKER_PROTOCOL"],
])("an export whose trainer %s leaves nothing", async (_what, behaviour, code) => {
  const service = await withAdapter({ export: behaviour });
  const job = await exported(service);
  expect(job).toMatchObject({ status: "failed", adapter_id: null, result: null, error: { code } });
  expect(existsSync(folderOf(service))).toBe(false);
  expect(readdirSync(join(service.dataDir, "adapters", ".staging"))).toEqual([]);
});

test("a cancelled export leaves nothing, and neither does one whose adapter is archived meanwhile", async () => {
  const gate = join(makeFolder(), "go");
  const service = await withAdapter({ export: { wait_for: gate } });
  const first = await startExport(service, "gguf");
  await service.reached(first, ({ phase }) => phase === "exporting");
  await service.post(`/jobs/${first}/cancel`);
  expect((await service.ended(first)).status).toBe("cancelled");

  const second = await startExport(service, "gguf");
  await service.reached(second, ({ phase }) => phase === "exporting");
  await service.call({ method: "DELETE", url: "/adapters/a" });
  writeFileSync(gate, "");
  expect(await service.ended(second)).toMatchObject({ status: "failed", error: { code: "ADAPTER_NOT_FOUND" } });
  expect(existsSync(folderOf(service))).toBe(false);
});

test("purging an adapter removes its exports", async () => {
  const service = await withAdapter();
  await exported(service);
  await service.call({ method: "DELETE", url: "/adapters/a" });
  expect((await service.get("/adapters/a/exports/gguf")).json()).toMatchObject({ code: "ADAPTER_NOT_FOUND" });
  expect(existsSync(folderOf(service))).toBe(true);
  await service.call({ method: "DELETE", url: "/adapters/a?purge=true" });
  expect(existsSync(join(service.dataDir, "exports", "a"))).toBe(false);
});
