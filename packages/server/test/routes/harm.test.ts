import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Adapter, JobDetails } from "@imprint/contracts";
import { Check } from "typebox/value";
import { expect, test } from "vitest";
import { type Service, startService } from "../support/service.js";
import { putSession } from "../support/session.js";

const WORSE = { loss_before: 2, loss_after: 2.5 };
const FORGETS = { loss_after: 0.4, neutral_loss_before: 3, neutral_loss_after: 3.6 };

const HELPS_AT_NONE = {
  imprint: {
    scale: 0.12,
    calibration: { helps: false, tried: [{ scale: 0.12, loss: 2.6, neutral: [{ name: "mixed", loss: 3.1 }] }] },
    coverage: {
      characters: 9,
      characters_read: 9,
      kinds: [{ kind: "user", characters: 9, characters_read: 9 }],
      tokens: 3,
      chunks: 1,
    },
    neutral: [{ name: "mixed", loss_before: 3.1, loss_after: 3.2 }],
  },
};

const serviceThat = async (proof: object): Promise<Service> => {
  const service = await startService({ behaviour: { proof } });
  putSession(service.dataDir, "s1");
  return service;
};

const detailsOf = async (service: Service, jobId: string): Promise<JobDetails> => {
  await service.ended(jobId);
  return (await service.get(`/jobs/${jobId}/details`)).json();
};

const BODIES = {
  lora: { session_id: "s1", adapter_id: "mine" },
  hypernetwork: { trajectory_ids: ["s1"], adapter_id: "mine" },
} as const;
type Method = keyof typeof BODIES;

const train = async (service: Service, method: Method, more: object = {}): Promise<JobDetails> => {
  const started = await service.post(`/train/${method}`, { ...BODIES[method], ...more });
  expect(started.statusCode).toBe(200);
  return detailsOf(service, started.json<{ job_id: string }>().job_id);
};

const losses = (["lora", "hypernetwork"] as const).flatMap((method) => [
  {
    method,
    name: "worse on its own text",
    proof: WORSE,
    says: "own text 2.000 → 2.500 (+25 %), neutral text 3.100 → 3.200 (+3.2 %)",
  },
  {
    method,
    name: "costly on neutral text",
    proof: FORGETS,
    says: "own text 2.500 → 0.400 (−84 %), neutral text 3.000 → 3.600 (+20 %)",
  },
]);
const cases = [
  ...losses,
  {
    method: "hypernetwork" as const,
    name: "helpful at no scale",
    proof: HELPS_AT_NONE,
    says: "The adapter helps at none of the 1 scales that were tried: own text 2.500 → 0.400",
  },
];

test.each(cases)("an adapter by $method that is $name fails its job, with the figures and the proof", async (one) => {
  const service = await serviceThat(one.proof);
  const job = await train(service, one.method);

  expect(job).toMatchObject({ status: "failed", adapter_id: null, proof: one.proof, error: { code: "ADAPTER_HARMS" } });
  expect(job.error?.message).toContain(one.says);
  expect(job.error?.message).toContain("keep_harmful");
  expect(Check(JobDetails, job)).toBe(true);
  expect((await service.get(`/jobs/${job.job_id}`)).json()).toEqual({
    job_id: job.job_id,
    status: "failed",
    adapter_id: null,
    error: job.error?.message,
  });
  expect((await service.get("/adapters")).json().adapters).toEqual([]);
  expect(readdirSync(join(service.dataDir, "adapters")).filter((name) => !name.startsWith("."))).toEqual([]);
  expect(readdirSync(join(service.dataDir, "adapters", ".staging"))).toEqual([]);
});

test.each(cases)(
  "keep_harmful registers one by $method that is $name under the same id, and marks it",
  async ({ method, proof }) => {
    const service = await serviceThat(proof);
    await train(service, method);
    const job = await train(service, method, { keep_harmful: true });

    expect(job).toMatchObject({ status: "completed", adapter_id: "mine", request: { keep_harmful: true }, proof });
    const { adapters } = (await service.get("/adapters")).json();
    expect(adapters).toMatchObject([{ adapter_id: "mine", verdict: "harms", health: "ok" }]);
    const verified = (await service.post("/adapters/mine/verify", {})).json();
    expect(verified).toMatchObject({ verdict: "harms", health: "ok" });
    expect(Check(Adapter, verified)).toBe(true);
    const card = readFileSync(join(service.dataDir, "adapters", "mine", "README.md"), "utf8");
    expect(card).toContain("# mine\n\n> **This adapter makes the model worse");
  },
);

test("an adapter that learned is not marked, whether keep_harmful was asked for or not", async () => {
  const service = await serviceThat({});
  await train(service, "lora");
  await train(service, "lora", { adapter_id: "other", keep_harmful: true });
  const { adapters } = (await service.get("/adapters")).json();
  expect(adapters).toMatchObject([{ verdict: "learned" }, { verdict: "learned" }]);
  for (const id of ["mine", "other"])
    expect(readFileSync(join(service.dataDir, "adapters", id, "README.md"), "utf8")).not.toContain("worse");
});

test("the trainer never hears of keep_harmful: it changes no number", async () => {
  const service = await serviceThat(WORSE);
  await train(service, "lora", { keep_harmful: true });
  const training = JSON.parse(readFileSync(join(service.dataDir, "adapters", "mine", "training.json"), "utf8"));
  expect(training.spec).not.toHaveProperty("keep_harmful");
});

test("a resume and a salvage are refused by the same rule, and may be given keep_harmful", async () => {
  const service = await startService({ behaviour: { proof: WORSE, checkpoint: true } });
  putSession(service.dataDir, "s1");
  const { job_id } = await train(service, "lora");
  const resumed = await service.post("/train/lora", { resume_from: job_id });
  expect(await detailsOf(service, resumed.json().job_id)).toMatchObject({ status: "failed", error: { code: "ADAPTER_HARMS" } });
  const salvage = async (body: object): Promise<JobDetails> =>
    detailsOf(service, (await service.post(`/jobs/${job_id}/salvage`, body)).json().job_id);
  expect(await salvage({})).toMatchObject({ status: "failed", error: { code: "ADAPTER_HARMS" } });
  expect(await salvage({ adapter_id: "part", keep_harmful: true })).toMatchObject({ status: "completed", adapter_id: "part" });
  const kept = await service.post("/train/lora", { resume_from: job_id, keep_harmful: true });
  expect(await detailsOf(service, kept.json().job_id)).toMatchObject({ status: "completed", adapter_id: "mine" });
});

test("a resume keeps what its job was allowed, and takes a checkpoint of before there was keep_harmful", async () => {
  const service = await startService({
    behaviour: { proof: WORSE, checkpoint: true, fail: { code: "OUT_OF_MEMORY", message: "m", hint: "h" } },
  });
  putSession(service.dataDir, "s1");
  const { job_id } = await train(service, "lora", { keep_harmful: true });
  const file = join(service.dataDir, "checkpoints", job_id, "request.json");
  const resume = async (): Promise<JobDetails> =>
    detailsOf(service, (await service.post("/train/lora", { resume_from: job_id })).json().job_id);
  expect((await resume()).request).toMatchObject({ keep_harmful: true });
  const { request, ...rest } = JSON.parse(readFileSync(file, "utf8"));
  const { keep_harmful: _new, ...old } = request;
  writeFileSync(file, JSON.stringify({ ...rest, request: old }));
  expect((await resume()).request).toMatchObject({ keep_harmful: false });
});
