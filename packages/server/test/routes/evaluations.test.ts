import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Adapter, type EvaluateRequest, Evaluation, JobDetails, type Session } from "@imprint/contracts";
import { Check } from "typebox/value";
import { expect, test } from "vitest";
import { makeFolder, makeModel, type Service, startLora, startService } from "../support/service.js";
import { makeSession, putSession } from "../support/session.js";

/** A session whose calls name these files. */
const touching = (sessionId: string, files: readonly string[], changes: Partial<Session> = {}): Session => {
  const call = (path: string, at: number) => ({ id: `c${at}`, name: "read", arguments: JSON.stringify({ path }) });
  const { steps } = makeSession(sessionId);
  return makeSession(sessionId, { steps: [...steps, { source: "agent", text: "", tool_calls: files.map(call) }], ...changes });
};

const OWN = ["/home/me/shop/src/cart.ts", "/home/me/shop/src/price.ts", "/home/me/shop/test/cart.test.ts"];

const withAdapter = async (evaluate: object = {}): Promise<Service> => {
  const service = await startService({ behaviour: { evaluate } });
  putSession(service.dataDir, "seen", touching("seen", OWN));
  putSession(service.dataDir, "later", touching("later", ["src/cart.ts", "./src/price.ts"]));
  await service.ended(await startLora(service, { session_id: "seen", adapter_id: "a" }));
  return service;
};

const start = async (service: Service, body: EvaluateRequest = {}, adapter = "a"): Promise<string> => {
  const response = await service.post(`/adapters/${adapter}/evaluate`, body);
  expect(response.json()).toEqual({ job_id: expect.any(String), status: "queued" });
  expect(response.statusCode).toBe(202);
  return response.json().job_id;
};

const evaluated = async (service: Service, body: EvaluateRequest = {}) => service.ended(await start(service, body));

const refusalOf = async (service: Service, body: object, adapter = "a") => {
  const { statusCode, body: text } = await service.post(`/adapters/${adapter}/evaluate`, body);
  const { code, detail, errors } = JSON.parse(text);
  return [statusCode, code, errors?.[0]?.path ?? detail];
};

const files = (service: Service): string => join(service.dataDir, "adapters", "a");
const read = (service: Service, name: string): string => readFileSync(join(files(service), name), "utf8");
const staging = (service: Service): readonly string[] => readdirSync(join(service.dataDir, "adapters", ".staging"));

test("an evaluation is a job whose result lies beside the adapter's proof, with the verdict in lists, details and card", async () => {
  const service = await withAdapter();
  expect((await service.get("/adapters/a")).json().evaluation).toBeNull();
  const job = await evaluated(service, { seed: 3 });

  const details = (await service.get(`/jobs/${job.job_id}/details`)).json();
  expect(Check(JobDetails, details)).toBe(true);
  expect(details).toMatchObject({
    kind: "evaluate",
    status: "completed",
    adapter_id: "a",
    proof: null,
    measuring: { done: expect.any(Number), total: expect.any(Number) },
    request: { session_ids: ["later"], trained_on: ["seen"], control_adapter_id: null, actions: 50, seed: 3 },
    result: { verdict: "helps", seed: 3, sessions: [{ session_id: "later" }] },
  });
  const found = (await service.get("/adapters/a/evaluation")).json();
  expect(Check(Evaluation, found)).toBe(true);
  expect(found).toEqual(details.result);
  expect(JSON.parse(read(service, "evaluation.json"))).toEqual(found);
  expect(read(service, "README.md")).toContain(found.sentence);

  const adapter = (await service.post("/adapters/a/verify")).json();
  expect(Check(Adapter, adapter)).toBe(true);
  const { verdict, sentence } = found;
  expect(adapter).toMatchObject({ health: "ok", evaluation: { verdict, sentence, created_at: expect.any(String) } });
  expect(adapter.files.map(({ name }: { name: string }) => name)).toContain("evaluation.json");
  expect((await service.get("/adapters")).json().adapters).toEqual([adapter]);
  expect((await service.get("/adapters/a/files/README.md")).body).toBe(read(service, "README.md"));
  expect(staging(service)).toEqual([]);
  expect(readdirSync(join(service.dataDir, "measurements"))).not.toEqual([]);
});

test("a later evaluation takes the place of the one before, and a restart keeps it", async () => {
  const service = await withAdapter();
  await evaluated(service, { seed: 1 });
  await evaluated(service, { seed: 2, actions: 0 });
  expect((await service.get("/adapters/a/evaluation")).json()).toMatchObject({ seed: 2, actions: null });
  expect(read(service, "README.md").match(/## Evaluation/g)).toHaveLength(1);
  const before = (await service.get("/adapters/a")).json();
  await service.close(0);
  const again = await startService({ dataDir: service.dataDir });
  expect((await again.post("/adapters/a/verify")).json()).toEqual(before);
  expect((await again.get("/adapters/a/evaluation")).json()).toMatchObject({ seed: 2 });
});

test("without an evaluation there is none to read, in a sentence", async () => {
  const service = await withAdapter();
  const { statusCode, body } = await service.get("/adapters/a/evaluation");
  expect([statusCode, JSON.parse(body)]).toEqual([404, expect.objectContaining({ code: "EVALUATION_NOT_FOUND" })]);
  expect(JSON.parse(body).detail).toBe("The adapter a was not evaluated: imprint evaluate a does it.");
  expect((await service.get("/adapters/none/evaluation")).json()).toMatchObject({ status: 404, code: "ADAPTER_NOT_FOUND" });
});

test("sessions of other work, failed ones and those that were trained on are not chosen", async () => {
  const service = await withAdapter();
  rmSync(join(service.dataDir, "sessions", "later.json"));
  putSession(
    service.dataDir,
    "elsewhere",
    touching("elsewhere", ["/srv/bank/src/cart.ts", "lib/account.rb"], { started_at: "2026-01-01T00:00:00Z" }),
  );
  putSession(service.dataDir, "failed", touching("failed", OWN, { outcome: "failure", started_at: "2026-01-02T00:00:00Z" }));
  expect(await refusalOf(service, {})).toEqual([
    422,
    "NOTHING_TO_EVALUATE",
    "No stored session names the files that those of a do, except what it was trained on: import a later one.",
  ]);
  const named = await evaluated(service, { session_ids: ["failed", "elsewhere"] });
  expect(named.request).toMatchObject({ session_ids: ["elsewhere", "failed"] }); // oldest first
});

test.each([
  ["whole sessions", { whole: true }, {}, { session_ids: ["kept"], trained_on: ["seen"] }],
  ["but no part of one", { whole: false }, {}, { session_ids: ["later"], trained_on: ["seen", "kept"] }],
  ["but none that a sweep chose by", { whole: true }, { sweep: {} }, { session_ids: ["later"], trained_on: ["seen"] }],
])("what a training held out is tested on before all others: %s", async (_what, held_out, more, choice) => {
  const session_ids = ["seen", "kept"];
  const plan = { held_out: { sessions: ["kept"], ...held_out } };
  const training = { sessions: session_ids.map((session_id) => ({ session_id })), plan, ...more };
  const service = await startService({ behaviour: { training } });
  for (const id of ["seen", "kept", "later"]) putSession(service.dataDir, id, touching(id, OWN));
  await service.ended(await startLora(service, { session_ids, adapter_id: "a" }));
  expect((await evaluated(service)).request).toMatchObject(choice);
});

test("what an adapter said itself is not chosen, and tested on where it is named", async () => {
  const service = await withAdapter();
  const source = { ...makeSession("said").source, format: "claude-code" as const, model: "a" };
  putSession(service.dataDir, "said", touching("said", OWN, { source, started_at: "2026-05-01T00:00:00.000Z" }));
  expect((await evaluated(service)).request).toMatchObject({ session_ids: ["later"] });
  expect((await evaluated(service, { session_ids: ["said"] })).request).toMatchObject({ session_ids: ["said"] });
});

test("what cannot be evaluated is refused in a sentence", async () => {
  const service = await withAdapter();
  makeModel(join(service.dataDir, "models", "other-model"));
  await service.ended(await startLora(service, { session_id: "seen", adapter_id: "b", base_model: "other-model" }));
  const trained = [422, "SESSION_TRAINED_ON", "/session_ids"];
  expect(await refusalOf(service, { session_ids: ["later", "seen"] })).toEqual(trained);
  const unknown = await refusalOf(service, { session_ids: ["nowhere"] });
  expect(unknown.slice(0, 2)).toEqual([404, "SESSION_NOT_FOUND"]);
  expect(await refusalOf(service, { control_adapter_id: "b" })).toEqual([422, "VALIDATION_FAILED", "/control_adapter_id"]);
  expect((await refusalOf(service, { control_adapter_id: "none" })).slice(0, 2)).toEqual([404, "ADAPTER_NOT_FOUND"]);
  expect(await refusalOf(service, { session_ids: [] })).toEqual([422, "VALIDATION_FAILED", "/session_ids"]);
  expect(await refusalOf(service, { actions: 201 })).toEqual([422, "VALIDATION_FAILED", "/actions"]);
  expect(await refusalOf(service, { on: "s" })).toEqual([422, "VALIDATION_FAILED", "/on"]);
  expect((await refusalOf(service, {}, "none")).slice(0, 2)).toEqual([404, "ADAPTER_NOT_FOUND"]);
  rmSync(join(files(service), "adapter_model.safetensors"));
  expect(await refusalOf(service, {})).toEqual([409, "ADAPTER_INVALID", expect.stringContaining("missing")]);
});

test.each([
  ["what was trained on may be gone", "seen", { status: "completed" }],
  ["what is tested on may not be gone", "later", { status: "failed", error: { code: "SESSION_NOT_FOUND" } }],
])("%s when an evaluation begins", async (_what, gone, end) => {
  const gate = join(makeFolder(), "go");
  const service = await withAdapter({ wait_for: gate });
  const running = await start(service);
  await service.reached(running, ({ measuring }) => measuring !== null);
  const waiting = await start(service);
  await service.call({ method: "DELETE", url: `/sessions/${gone}` });
  writeFileSync(gate, "");
  expect(await service.ended(waiting)).toMatchObject(end);
});

test("a control adapter gets a row of its own", async () => {
  const service = await withAdapter();
  await service.ended(await startLora(service, { session_id: "later", adapter_id: "b" }));
  const { result } = await evaluated(service, { control_adapter_id: "b", seed: 0 });
  expect(result).toMatchObject({ rows: expect.arrayContaining([expect.objectContaining({ row: "control", adapter_id: "b" })]) });
});

test.each([
  ["fails", { fail: { code: "NOTHING_TO_EVALUATE", message: "No.", hint: "h" } }, "NOTHING_TO_EVALUATE"],
  ["writes other files than it says", { damage: "evaluation.json" }, "TRAINER_ERROR"],
  ["names no files", { result: { files: [] } }, "TRAINER_ERROR"],
  ["reports another evaluation than it wrote", { evaluation: { adapter_id: "b" } }, "TRAINER_ERROR"],
  ["answers with a training", { result: { rank: 1, alpha: 1 } }, "WORKER_PROTOCOL"],
])("an evaluation whose trainer %s changes nothing", async (_what, behaviour, code) => {
  const service = await withAdapter(behaviour);
  const before = (await service.get("/adapters/a")).json();
  expect(await evaluated(service)).toMatchObject({ status: "failed", adapter_id: null, result: null, error: { code } });
  expect((await service.post("/adapters/a/verify")).json()).toEqual(before);
  expect(existsSync(join(files(service), "evaluation.json"))).toBe(false);
  expect(staging(service)).toEqual([]);
});

test("a cancelled evaluation keeps what it measured, and one whose adapter is archived meanwhile leaves the adapter as it was", async () => {
  const gate = join(makeFolder(), "go");
  const service = await withAdapter({ wait_for: gate });
  const card = read(service, "README.md");
  const first = await start(service);
  await service.reached(first, ({ measuring }) => measuring !== null);
  await service.post(`/jobs/${first}/cancel`);
  expect((await service.ended(first)).status).toBe("cancelled");

  const second = await start(service);
  await service.reached(second, ({ measuring }) => measuring !== null);
  await service.call({ method: "DELETE", url: "/adapters/a" });
  writeFileSync(gate, "");
  expect(await service.ended(second)).toMatchObject({ status: "failed", error: { code: "ADAPTER_NOT_FOUND" } });
  expect(read(service, "README.md")).toBe(card);
  expect(existsSync(join(files(service), "evaluation.json"))).toBe(false);
  expect(staging(service)).toEqual([]);
});

test("an adapter that is exported while it is evaluated stays whole, and a purge takes its evaluation with it", async () => {
  const service = await withAdapter();
  const exporting = async () => (await service.post("/adapters/a/export", { format: "gguf" })).json().job_id;
  const jobs = [await start(service), await exporting(), await start(service, { seed: 9 })];
  for (const id of jobs) expect((await service.ended(id)).status).toBe("completed");
  expect((await service.post("/adapters/a/verify")).json()).toMatchObject({ health: "ok" });
  await service.call({ method: "DELETE", url: "/adapters/a?purge=true" });
  expect(existsSync(files(service))).toBe(false);
  expect((await service.get("/adapters/a/evaluation")).json()).toMatchObject({ code: "ADAPTER_NOT_FOUND" });
});

test("the same Idempotency-Key starts one evaluation", async () => {
  const service = await withAdapter();
  const call = () =>
    service.call({ method: "POST", url: "/adapters/a/evaluate", payload: {}, headers: { "idempotency-key": "once" } });
  const [one, two] = [await call(), await call()];
  expect(one.json().job_id).toBe(two.json().job_id);
});
