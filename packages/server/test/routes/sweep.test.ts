import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JobDetails, Sweep } from "@imprint/contracts";
import { expect, test } from "vitest";
import { makeFolder, type Service, startService } from "../support/service.js";
import { putSession } from "../support/session.js";

const BODY = { session_ids: ["s1", "s2"], adapter_id: "best", seed: 7, rank: [4, 8], learning_rate: [1e-4, 3e-4] };

const start = async (service: Service, body: object): Promise<string> => {
  const response = await service.post("/train/sweep", body);
  if (response.statusCode !== 200) throw new Error(`not started: ${response.body}`);
  return response.json<{ job_id: string }>().job_id;
};
const details = async (service: Service, id: string): Promise<JobDetails> => (await service.get(`/jobs/${id}/details`)).json();

const withSessions = async (behaviour: object = {}): Promise<Service> => {
  const service = await startService({ behaviour });
  for (const id of BODY.session_ids) putSession(service.dataDir, id);
  return service;
};

test("a sweep tries every combination, shows what it tried, and registers the best", async () => {
  const service = await withSessions();
  const id = await start(service, BODY);
  const seen: (Sweep | null)[] = [];
  service.jobs.subscribe(({ result }) => seen.push(result as Sweep | null));
  expect(await service.ended(id)).toMatchObject({ status: "completed", adapter_id: "best", kind: "sweep" });
  const job = await details(service, id);
  expect(job.request).toMatchObject({ profile: "learn", holdout: "auto", early_stopping: "halving", seed: 7 });
  expect(job.request.trials).toHaveLength(4);
  const result = job.result as Sweep;
  expect(result.trials.map(({ rank, learning_rate }) => [rank, learning_rate])).toEqual([
    [4, 1e-4],
    [4, 3e-4],
    [8, 1e-4],
    [8, 3e-4],
  ]);
  expect(result.best).toBe(2);
  expect(seen.some((one) => one !== null && one.best === null)).toBe(true);
  expect((await service.get("/adapters/best")).json()).toMatchObject({ method: "lora", rank: 4, session_ids: ["s1", "s2"] });
  expect(readdirSync(join(service.dataDir, "checkpoints"))).toEqual([]);
});

test("a cancelled sweep shows what it tried, and goes on from there", async () => {
  const gate = join(makeFolder(), "gate");
  const service = await withSessions({ wait_for: gate });
  const id = await start(service, BODY);
  await service.reached(id, ({ checkpoint }) => checkpoint !== null);
  service.jobs.cancel(id);
  expect(await service.ended(id)).toMatchObject({ status: "cancelled", result: { best: null } });
  expect(readdirSync(join(service.dataDir, "checkpoints", id)).sort()).toEqual(["request.json", "sweep.json", "trial-01"]);
  writeFileSync(gate, "");

  const resumed = await start(service, { resume_from: id });
  const steps: number[] = [];
  service.jobs.subscribe(({ job_id, progress }) => job_id === resumed && progress && steps.push(progress.step));
  expect(await service.ended(resumed)).toMatchObject({ status: "completed", adapter_id: "best" });
  expect(Math.min(...steps)).toBe(2);
  expect(existsSync(join(service.dataDir, "checkpoints", id, "trial-01", "checkpoint.json"))).toBe(true);
  const { rank: _ranks, learning_rate: _rates, ...asked } = BODY;
  expect((await details(service, resumed)).request).toMatchObject({ ...asked, resume_from: id });

  for (const [url, body] of [
    ["/train/lora", { resume_from: id }],
    [`/jobs/${id}/salvage`, {}],
  ] as const)
    expect((await service.post(url, body)).json()).toMatchObject({
      code: "CHECKPOINT_NOT_FOUND",
      detail: expect.stringContaining("is a sweep: POST /train/sweep goes on with it"),
    });
});

test.each([
  [{ ...BODY, holdout: "none" }, "Field holdout must hold something out, since held-out text chooses the best trial"],
  [{ session_id: "s1", rank: [8] }, "Field trials has nothing to compare"],
  [{ ...BODY, profile: "remember" }, "profile"],
  [{ ...BODY, rank: 8 }, "rank"],
  [{ ...BODY, holdout: ["s3"] }, "Field holdout must name sessions of the training"],
  [{ resume_from: "0".repeat(26), rank: [4, 8] }, "Field rank cannot stand beside resume_from"],
])("%j is refused by the name of its field", async (body, sentence) => {
  const service = await startService();
  const refused = await service.post("/train/sweep", body);
  expect([refused.statusCode, refused.json().code]).toEqual([422, "VALIDATION_FAILED"]);
  expect(JSON.stringify(refused.json())).toContain(sentence);
});

test("a sweep that is not known is not found", async () => {
  const service = await startService();
  const refused = await service.post("/train/sweep", { resume_from: "0".repeat(26) });
  expect(refused.json()).toMatchObject({ status: 404, code: "CHECKPOINT_NOT_FOUND" });
});
