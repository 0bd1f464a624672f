import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BaseModelList, JobDetails } from "@imprint/contracts";
import { Check } from "typebox/value";
import { expect, test } from "vitest";
import { makeFolder, makeModel, type Service, startLora, startService, trainerWith } from "../support/service.js";
import { putSession } from "../support/session.js";

const CODER = "qwen2.5-coder-0.5b-instruct";
const PULLS = fileURLToPath(new URL("../fixtures/workers/pulls.mjs", import.meta.url));

/** Pulls by the fixture; "serve" ends what is the command's. */
const startPulling = (
  pull: object = {},
  { dataDir = makeFolder(), ...others }: { readonly dataDir?: string; readonly [field: string]: unknown } = {},
): Promise<Service> => {
  const args = [PULLS, JSON.stringify({ pull, ...others }), "serve"];
  return startService({ dataDir, command: { file: process.execPath, args } });
};

const startPull = async (service: Service, name = CODER): Promise<string> => {
  const response = await service.post("/models", { name });
  expect(response.statusCode).toBe(202);
  return response.json().job_id;
};

const names = (there: { models: { name: string; here: boolean }[] }) =>
  there.models.filter(({ here }) => here).map(({ name }) => name);

test("base models are listed and removed, and a job can name one that was added meanwhile", async () => {
  const service = await startService();
  makeModel(join(service.dataDir, "models", "own"));
  const listed = (await service.get("/models")).json();
  expect(Check(BaseModelList, listed)).toBe(true);
  expect(names(listed)).toContain("own");
  expect((await service.call({ method: "DELETE", url: "/models/own" })).statusCode).toBe(204);
  expect(existsSync(join(service.dataDir, "models", "own"))).toBe(false);
  expect(names((await service.get("/models")).json())).not.toContain("own");
  const again = await service.call({ method: "DELETE", url: "/models/own" });
  expect([again.statusCode, again.json().code]).toEqual([422, "BASE_MODEL_NOT_FOUND"]);
  expect((await service.call({ method: "DELETE", url: "/models/me%2Fnobody" })).json().code).toBe("BASE_MODEL_NOT_FOUND");
  const inUse = await service.call({ method: "DELETE", url: "/models/test-model" });
  expect([inUse.statusCode, inUse.json().code]).toEqual([409, "BASE_MODEL_IN_USE"]);
});

test("a list says what a training of each model that is here takes", async () => {
  const training = { fits: false, total_mb: 48_000, window: 256 };
  const service = await startPulling({}, { trainings: [training] });
  const { models } = (await service.get("/models")).json();
  expect(Check(BaseModelList, { models })).toBe(true);
  expect(models[0]).toMatchObject({ name: "test-model", engine: "transformers", training });
  expect(models.at(-1)).toMatchObject({ here: false, engine: null, training: null });
});

test("a pull is a job that counts bytes, and what it fetched is offered without a restart", async () => {
  const service = await startPulling();
  const id = await startPull(service);
  const counted: unknown[] = [];
  service.jobs.subscribe(({ phase, measuring }) => void (measuring && counted.push([phase, measuring.done, measuring.total])));
  const job = await service.ended(id);
  expect(job).toMatchObject({ status: "completed", adapter_id: null, result: { base_model: CODER } });
  expect(new Set(counted.map(String))).toEqual(
    new Set(["fetching,0,4000000", "fetching,2000000,4000000", "fetching,4000000,4000000", "registering,4000000,4000000"]),
  );
  // What is done with the bytes once they are there is said as well.
  expect(job.measuring?.what).toBe("offline 0");
  const details = (await service.get(`/jobs/${id}/details`)).json();
  expect(Check(JobDetails, details)).toBe(true);
  expect(details).toMatchObject({ kind: "pull", request: { base_model: CODER }, proof: null });
  expect(service.jobs.log(id)).toBe("offline 0\n");
  expect(names((await service.get("/models")).json())).toContain(CODER);
  expect((await service.get(`/v1/models/${CODER}`)).statusCode).toBe(200);
  const again = await service.ended(await startPull(service));
  expect(again).toMatchObject({ status: "completed", phase: "starting", result: { base_model: CODER } });
});

test("a model of the catalogue that the hub had goes by its name besides, unless that is another's", async () => {
  const folder = join(makeFolder(), "snapshot");
  const service = await startPulling({ folder });
  expect((await service.ended(await startPull(service))).status).toBe("completed");
  expect(realpathSync(join(service.dataDir, "models", CODER))).toBe(realpathSync(folder));

  const dataDir = makeFolder();
  const gate = join(makeFolder(), "go");
  const taken = await startPulling({ folder, wait_for: gate }, { dataDir });
  const id = await startPull(taken);
  await taken.reached(id, ({ measuring }) => measuring?.done === 2_000_000);
  makeModel(join(dataDir, "models", CODER));
  writeFileSync(gate, "");
  expect(await taken.ended(id)).toMatchObject({ status: "failed", error: { code: "BASE_MODEL_INVALID" } });
});

test("a cancelled pull leaves what the next one goes on with, and nothing that is offered", async () => {
  const gate = join(makeFolder(), "go");
  const service = await startPulling({ wait_for: gate });
  const id = await startPull(service);
  await service.reached(id, ({ measuring }) => measuring?.done === 2_000_000);
  const removing = await service.call({ method: "DELETE", url: `/models/${CODER}` });
  expect([removing.statusCode, removing.json().detail]).toEqual([409, expect.stringContaining("is being pulled")]);
  await service.post(`/jobs/${id}/cancel`);
  expect((await service.ended(id)).status).toBe("cancelled");
  expect(names((await service.get("/models")).json())).not.toContain(CODER);
  writeFileSync(gate, "");
  const next = await startPull(service);
  expect((await service.ended(next)).status).toBe("completed");
  expect(service.jobs.log(next)).toContain("going on");
});

test("a pull waits for no training", async () => {
  const gate = join(makeFolder(), "go");
  const service = await startPulling({}, { wait_for: gate });
  putSession(service.dataDir, "s");
  const training = await startLora(service, { session_id: "s" });
  await service.reached(training, ({ progress }) => progress !== null);
  expect((await service.ended(await startPull(service))).status).toBe("completed");
  expect(service.jobs.get(training)?.status).toBe("running");
});

test("who asks for a pull that is under way gets its job, and a key its own; pulls wait for one another", async () => {
  const gate = join(makeFolder(), "go");
  const service = await startPulling({ wait_for: gate });
  const first = await startPull(service);
  await service.reached(first, ({ measuring }) => measuring !== null);
  expect(await startPull(service)).toBe(first);
  const ask = (name: string) =>
    service.call({ method: "POST", url: "/models", payload: { name }, headers: { "idempotency-key": "once" } });
  const { job_id: second } = (await ask("me/tiny")).json();
  expect((await ask("me/tiny")).json().job_id).toBe(second);
  expect((await ask("me/other")).json().code).toBe("IDEMPOTENCY_CONFLICT");
  expect(service.jobs.get(second)?.status).toBe("queued");
  writeFileSync(gate, "");
  expect((await service.ended(second)).status).toBe("completed");
});

const GATED = { code: "DOWNLOAD_FAILED", message: "me/tiny is gated", hint: "Accept its terms." };
test.each([
  ["is refused by the hub", { fail: GATED }, GATED],
  ["finds the disk full", { fail: { ...GATED, code: "DISK_FULL" } }, { code: "DISK_FULL" }],
  ["ends early", { exit: 9 }, { code: "WORKER_CRASHED", message: "The trainer ended with exit code 9." }],
  ["is killed", { exit: 137 }, { code: "WORKER_CRASHED", message: expect.stringContaining("as a system does when memory") }],
])("a pull that %s is a sentence, and offers nothing", async (_what, behaviour, error) => {
  const service = await startPulling(behaviour);
  expect(await service.ended(await startPull(service))).toMatchObject({ status: "failed", result: null, error });
  expect(names((await service.get("/models")).json())).not.toContain(CODER);
});

test("what cannot be pulled is refused before a job is made, by its field", async () => {
  const service = await startPulling();
  const refused = async (body: object) => {
    const response = await service.post("/models", body);
    return [response.statusCode, response.json().code, response.json().errors?.[0]?.path];
  };
  for (const name of ["../x", "", "a/b/c", "/etc"]) expect(await refused({ name })).toEqual([422, "VALIDATION_FAILED", "/name"]);
  expect(await refused({})).toEqual([422, "VALIDATION_FAILED", "/name"]);
  expect(await refused({ name: CODER, to: "/etc" })).toEqual([422, "VALIDATION_FAILED", "/to"]);
  const unknown = (await service.post("/models", { name: "nobody" })).json();
  expect([unknown.status, unknown.code]).toEqual([422, "BASE_MODEL_NOT_FOUND"]);
  expect(unknown.detail).toMatch(
    /^Field name: The catalogue has no nobody, only SmolLM2-135M-Instruct, .* goes by owner\/name\./,
  );
  expect(service.jobs.counts()).toMatchObject({ queued: 0, running: 0, completed: 0 });
});

test("a service without a trainer says so", async () => {
  const service = await startService({ command: { ...trainerWith(), file: "/nowhere/python" } });
  mkdirSync(join(service.dataDir, "models"), { recursive: true });
  expect(await service.ended(await startPull(service))).toMatchObject({
    status: "failed",
    error: { code: "WORKER_START_FAILED" },
  });
});
