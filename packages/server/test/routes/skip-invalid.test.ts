import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { JobDetails, PreviewReport } from "@imprint/contracts";
import { Check } from "typebox/value";
import { expect, test } from "vitest";
import { type Service, startLora, startService } from "../support/service.js";
import { putSession } from "../support/session.js";

const TORN = '{"schema_version": 1, "source": {"form';
const SESSIONS = { session_ids: ["torn", "good", "silent"] };

/** A service with a session that cannot be read, one to learn from, and one in which the trainer finds nothing. */
const serviceWithThree = async (): Promise<Service> => {
  const service = await startService({ behaviour: { skip: ["silent"] } });
  putSession(service.dataDir, "torn", TORN);
  for (const id of ["good", "silent"]) putSession(service.dataDir, id);
  return service;
};

const SKIPPED = [
  { session_id: "torn", code: "SESSION_INVALID", message: expect.stringContaining("torn") },
  { session_id: "silent", code: "NOTHING_TO_TRAIN", message: expect.stringContaining("silent") },
];

test("of several sessions those that cannot be trained are skipped by name: in the preview, the job and the adapter", async () => {
  const service = await serviceWithThree();
  const preview = (await service.post("/train/lora/preview", SESSIONS)).json();
  expect(Check(PreviewReport, preview)).toBe(true);
  expect(preview.skipped).toEqual(SKIPPED);

  const job = await service.ended(await startLora(service, { ...SESSIONS, adapter_id: "a" }));
  expect(job).toMatchObject({ status: "completed", request: { skip_invalid: true }, plan: { skipped: SKIPPED } });
  expect(Check(JobDetails, (await service.get(`/jobs/${job.job_id}/details`)).json())).toBe(true);
  const adapter = (await service.get("/adapters/a")).json();
  expect(adapter).toMatchObject({ session_id: "good", session_ids: ["good"] });
  const { spec } = JSON.parse(readFileSync(join(service.dataDir, "adapters", "a", "training.json"), "utf8"));
  expect(spec).toMatchObject({ session_ids: ["good", "silent"], unreadable: [{ session_id: "torn" }] });
});

test("without skip_invalid the first session that cannot be read is an error that names it", async () => {
  const service = await serviceWithThree();
  const body = { ...SESSIONS, skip_invalid: false };
  const refused = (await service.post("/train/lora/preview", body)).json();
  expect(refused).toMatchObject({ status: 422, code: "SESSION_INVALID", detail: expect.stringContaining("torn") });
  const job = await service.ended(await startLora(service, body));
  expect(job).toMatchObject({ status: "failed", error: { code: "SESSION_INVALID", message: expect.stringContaining("torn") } });
});

test("when no session can be read, preview and job fail, and leave nothing behind", async () => {
  const service = await startService();
  for (const id of ["torn", "cut"]) putSession(service.dataDir, id, TORN);
  const body = { session_ids: ["torn", "cut"] };
  expect((await service.post("/train/lora/preview", body)).json()).toMatchObject({ status: 422, code: "SESSION_INVALID" });
  const job = await service.ended(await startLora(service, body));
  expect(job).toMatchObject({ status: "failed", error: { code: "SESSION_INVALID" } });
  expect(readdirSync(join(service.dataDir, "adapters", ".staging"))).toEqual([]);
});

test("a session that is not there is an error also where others may be skipped", async () => {
  const service = await serviceWithThree();
  const body = { session_ids: ["good", "nobody"], skip_invalid: true };
  expect((await service.post("/train/lora/preview", body)).json()).toMatchObject({ status: 404, code: "SESSION_NOT_FOUND" });
});

test("one session is not skipped unless that is asked for", async () => {
  const service = await serviceWithThree();
  const job = await service.ended(await startLora(service, { session_id: "good" }));
  expect(job.request.skip_invalid).toBe(false);
});
