import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Project, ProjectList, ProjectRunStart } from "@imprint/contracts";
import type { Static } from "typebox";
import { Check } from "typebox/value";
import { expect, test, vi } from "vitest";
import { openDatabase } from "../../src/storage/open.js";
import { makeFolder, makeModel, startLora, startService } from "../support/service.js";
import { makeSession, putSession } from "../support/session.js";
import { projectOf, putDays, run, runEnded, runReached, sessionOf, startRun } from "./support.js";

// Each run is a training and an evaluation, by real processes.
vi.setConfig({ testTimeout: 60_000 });

test("a run trains on all but the newest session, tests on that, and moves the latest; the next learns what was held out", async () => {
  const service = await startService();
  putDays(service, ["one", "two", "three"]);
  const started = await startRun(service, "shop", { session_ids: ["one", "two", "three"], folders: ["/home/me/shop"], rank: 4 });
  expect(Check(ProjectRunStart, started)).toBe(true);
  expect(started.sentence).toBe("Run 1 of shop: shop-1 is trained on 2 new sessions, and tested on three.");
  expect(await runEnded(service, "shop")).toMatchObject({
    run: 1,
    adapter_id: "shop-1",
    status: "completed",
    sessions: { new: 2, replayed: 0, held_out: ["three"] },
    verdict: "helps",
    moved: true,
    figures: { change: expect.any(Number), before: null },
    error: null,
  });
  const training = service.jobs.get(started.run?.train_job_id ?? "");
  expect(training?.request).toMatchObject({ session_ids: ["one", "two"], profile: "learn", holdout: "none", rank: 4 });
  expect((await service.get("/adapters/shop-1")).json().metadata).toEqual({ project: "shop", run: "1" });

  putDays(service, ["four"], 4);
  const second = await run(service, "shop", { session_ids: ["four"] });
  expect(second).toMatchObject({
    run: 2,
    adapter_id: "shop-2",
    sessions: { new: 1, replayed: 2, held_out: ["four"] },
    moved: true,
  });
  expect(service.jobs.get(second.train_job_id ?? "")?.request).toMatchObject({
    session_ids: ["one", "two", "three"],
    rank: 4, // as the request before said
  });
  expect(service.jobs.get(second.evaluate_job_id ?? "")?.request).toMatchObject({
    session_ids: ["four"],
    control_adapter_id: "shop-1",
    actions: 0,
  });
  const project = await projectOf(service, "shop");
  expect(Check(Project, project)).toBe(true);
  expect(project).toMatchObject({ folders: ["/home/me/shop"], sessions: 4, latest: { adapter_id: "shop-2" } });
  expect(project.runs.map((one) => one.run)).toEqual([2, 1]);
  const list = (await service.get("/projects")).json();
  expect(Check(ProjectList, list)).toBe(true);
  expect(list.projects).toMatchObject([{ name: "shop", last_run: { run: 2 } }]);
});

test("a call that is repeated with its Idempotency-Key is told of the run that it began, also while it is planned", async () => {
  const service = await startService();
  putDays(service, ["one", "two"]);
  const ask = () =>
    service.call({
      method: "POST",
      url: "/projects/shop/runs",
      payload: { session_ids: ["one", "two"] },
      headers: { "idempotency-key": "once" },
    });
  const [first, repeat] = await Promise.all([ask(), ask()]);
  expect([first?.statusCode, repeat?.statusCode, repeat?.json()]).toEqual([202, 202, first?.json()]);
  await runEnded(service, "shop");
  expect((await ask()).json()).toEqual(first?.json());
  expect((await projectOf(service, "shop")).runs).toHaveLength(1);
});

test("nothing is trained where there is nothing to learn, and the sentence says why", async () => {
  const service = await startService();
  putDays(service, ["one", "two"]);
  putSession(service.dataDir, "bad", sessionOf("bad", 9, { outcome: "failure" }));
  const one = await startRun(service, "shop", { session_ids: ["one", "bad"] });
  expect(one).toEqual({
    run: null,
    sentence:
      "Nothing to train for shop: one session is to learn from and another to be tested on: it goes on with the next session.",
  });
  await run(service, "shop", { session_ids: ["two"] });
  const response = await service.post("/projects/shop/runs", { session_ids: ["one", "two"] });
  expect([response.statusCode, response.json().sentence]).toEqual([
    200,
    "Nothing to train for shop: every session was trained or tested on already.",
  ]);
  expect(service.jobs.list({ limit: 10 }).jobs).toHaveLength(2);
  // A failed one counts once it is asked for.
  expect((await startRun(service, "shop", { include_unsuccessful: true })).run).not.toBeNull();
});

test("two runs of a project at once are refused, and one that is stopped goes on from there", async () => {
  const gate = join(makeFolder(), "go");
  const service = await startService({ behaviour: { wait_for: gate, checkpoint: true } });
  putDays(service, ["one", "two"]);
  const body = { session_ids: ["one", "two"] };
  const answers = await Promise.all(["a", "b", "c"].map(() => service.post("/projects/shop/runs", body)));
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([202, 409, 409]);
  const started = answers.find(({ statusCode }) => statusCode === 202)?.json<Static<typeof ProjectRunStart>>();
  const trainJob = started?.run?.train_job_id ?? "";
  expect(answers.find(({ statusCode }) => statusCode === 409)?.json()).toMatchObject({
    code: "PROJECT_BUSY",
    detail: `Run 1 of shop is training (job ${trainJob}). Wait for its end, or cancel its job.`,
  });
  await service.reached(trainJob, ({ checkpoint }) => checkpoint !== null);
  await service.post(`/jobs/${trainJob}/cancel`);
  expect(await runEnded(service, "shop")).toMatchObject({ status: "cancelled", moved: false, error: null });
  expect((await projectOf(service, "shop")).latest).toBeNull();

  writeFileSync(gate, "");
  const again = await run(service, "shop", {});
  expect(again).toMatchObject({ run: 1, adapter_id: "shop-1", status: "completed", moved: true });
  expect(service.jobs.get(again.train_job_id ?? "")?.request).toMatchObject({ resume_from: trainJob });
});

test.each([
  ["the training", "training", (gate: string) => ({ wait_for: gate }), true],
  ["the evaluation", "evaluating", (gate: string) => ({ evaluate: { wait_for: gate } }), false],
] as const)(
  "a service that ends during %s leaves an interrupted run, which the next goes on with",
  async (_what, status, behaviour, trains) => {
    const [dataDir, gate] = [makeFolder(), join(makeFolder(), "go")];
    const service = await startService({ dataDir, behaviour: behaviour(gate) });
    putDays(service, ["one", "two"]);
    await startRun(service, "shop", { session_ids: ["one", "two"] });
    const working = await runReached(
      service,
      "shop",
      (one) => one.status === status && (one.evaluate_job_id ?? one.train_job_id) !== null,
    );
    const jobId = working.evaluate_job_id ?? working.train_job_id ?? "";
    await service.reached(jobId, (job) => job.progress !== null || job.measuring !== null);
    await service.close(0);

    const again = await startService({ dataDir });
    expect((await projectOf(again, "shop")).runs).toMatchObject([
      { run: 1, status: "interrupted", moved: false, finished_at: expect.any(String) },
    ]);
    expect((await startRun(again, "shop", {})).sentence).toBe(
      trains
        ? "Run 1 of shop: shop-1 is trained on 1 new session, and tested on two."
        : "Run 1 of shop goes on: shop-1 is tested on two.",
    );
    expect(await runEnded(again, "shop")).toMatchObject({
      run: 1,
      adapter_id: "shop-1",
      status: "completed",
      verdict: "helps",
      moved: true,
      error: null,
    });
    expect(again.jobs.list({ limit: 9 }).jobs.map(({ kind }) => kind)).toEqual(trains ? ["evaluate", "lora"] : ["evaluate"]);
    expect((await again.get("/adapters/shop%40latest")).json()).toMatchObject({ adapter_id: "shop-1", health: "ok" });
  },
);

test("a run that the service lost in the middle of everything is marked when it starts again", async () => {
  const dataDir = makeFolder();
  const service = await startService({ dataDir });
  putDays(service, ["one", "two"]);
  const finished = await run(service, "shop", { session_ids: ["one", "two"] });
  await service.close(0);
  const database = openDatabase({ path: join(dataDir, "registry.db") });
  await database.updateTable("project_runs").set({ status: "training", finished_at: null, moved: 0 }).execute();
  await database.deleteFrom("adapter_aliases").execute();
  await database.destroy();
  const again = await startService({ dataDir });
  expect((await projectOf(again, "shop")).runs).toMatchObject([
    { status: "interrupted", error: { message: "The service ended while the run went on." } },
  ]);
  // Its adapter is there: only the verdict is found anew.
  expect(await run(again, "shop", {})).toMatchObject({ adapter_id: finished.adapter_id, status: "completed" });
  expect(again.jobs.list({ limit: 9 }).jobs.map(({ kind }) => kind)).toEqual(["evaluate"]);
});

test("the database itself refuses a second unfinished run of a project", async () => {
  const database = openDatabase({ path: join(makeFolder(), "registry.db") });
  const row = { project: "shop", adapter_id: "a", status: "training", chosen: "{}", seed: 1, created_at: "2026-01-01T00:00:00Z" };
  const insert = (number: number) =>
    database
      .insertInto("project_runs")
      .values({ ...row, run: number, moved: 0 })
      .execute();
  await insert(1);
  await expect(insert(2)).rejects.toThrow(/UNIQUE/);
  await database.destroy();
});

test.each([
  ["its training fails", { fail: { code: "OUT_OF_MEMORY", message: "No.", hint: "h" } }, { code: "OUT_OF_MEMORY" }, null],
  [
    "its evaluation fails",
    { evaluate: { fail: { code: "NOTHING_TO_EVALUATE", message: "Only copies.", hint: "h" } } },
    { code: "NOTHING_TO_EVALUATE" },
    200,
  ],
])("a run fails with the reason when %s, and the latest stays", async (_what, behaviour, error, adapter) => {
  const service = await startService({ behaviour });
  putDays(service, ["one", "two"]);
  expect(await run(service, "shop", { session_ids: ["one", "two"] })).toMatchObject({ status: "failed", error, verdict: null });
  expect((await projectOf(service, "shop")).latest).toBeNull();
  expect((await service.get("/adapters/shop-1")).statusCode).toBe(adapter ?? 404);
});

test("the latest is rolled back by one, by number or by id, and what only a later run has learned is new again", async () => {
  const service = await startService();
  const rollback = (body?: object) => service.post("/projects/shop/rollback", body);
  putDays(service, ["one", "two", "three", "four"]);
  await run(service, "shop", { session_ids: ["one", "two"] });
  expect((await rollback()).json()).toMatchObject({
    code: "ROLLBACK_IMPOSSIBLE",
    detail: expect.stringMatching(/^The project shop has no earlier adapter that is still registered\./),
  });
  await run(service, "shop", { session_ids: ["three"] });
  await run(service, "shop", { session_ids: ["four"] });
  const latest = async (body?: object) => (await rollback(body)).json().latest.adapter_id;
  expect(await latest()).toBe("shop-2");
  expect(await latest({ adapter_id: "shop-3" })).toBe("shop-3");
  expect(await latest({ run: 1 })).toBe("shop-1");
  expect((await rollback({ run: 9 })).json()).toMatchObject({
    status: 409,
    detail: expect.stringMatching(/^run 9 is none of the project shop\./),
  });
  expect((await rollback({ run: 1, adapter_id: "shop-1" })).json()).toMatchObject({ code: "VALIDATION_FAILED" });
  expect((await service.post("/projects/none/rollback")).json()).toMatchObject({ code: "PROJECT_NOT_FOUND" });

  putDays(service, ["five"], 5);
  expect(await run(service, "shop", { session_ids: ["five"] })).toMatchObject({
    run: 4,
    sessions: { new: 2, replayed: 1, held_out: ["four", "five"] }, // two and three; one
    figures: expect.objectContaining({}),
  });
  await service.call({ method: "DELETE", url: "/adapters/shop-4" });
  expect((await service.get("/adapters/shop%40latest")).json()).toMatchObject({
    code: "ADAPTER_NOT_FOUND",
    detail: '"shop@latest" is the adapter shop-4, which was deleted. POST /projects/{name}/rollback points it at another.',
  });
  expect((await rollback({ adapter_id: "shop-4" })).json().detail).toMatch(/^The adapter shop-4 is not registered\./);
  expect(await latest()).toBe("shop-3");
});

test("NAME@latest is an adapter wherever one is asked for by name, and what is archived is named by its id", async () => {
  const service = await startService();
  putDays(service, ["one", "two"]);
  await run(service, "shop", { session_ids: ["one", "two"] });
  const at = "/adapters/shop@latest";
  expect((await service.get(at)).json().adapter_id).toBe("shop-1");
  expect((await service.post(`${at}/verify`)).json().health).toBe("ok");
  expect((await service.get(`${at}/files/README.md`)).statusCode).toBe(200);
  expect((await service.get(`${at}/evaluation`)).json()).toMatchObject({ adapter_id: "shop-1" });
  const exported = await service.post(`${at}/export`, { format: "gguf" });
  expect((await service.ended(exported.json().job_id)).adapter_id).toBe("shop-1");
  const compared = await service.post("/adapters/shop-1/evaluate", { session_ids: ["two"], control_adapter_id: "shop@latest" });
  expect((await service.ended(compared.json().job_id)).request).toMatchObject({ control_adapter_id: "shop-1" });
  const models: readonly { id: string }[] = (await service.get("/v1/models")).json().data;
  expect(models.map(({ id }) => id)).toContain("shop@latest");
  const chat = await service.post("/v1/chat/completions", { model: "shop@latest", messages: [{ role: "user", content: "hi" }] });
  expect(chat.json()).toMatchObject({ model: "shop@latest", choices: [{ message: { role: "assistant" } }] });
  const unknown = await service.post("/v1/chat/completions", {
    model: "other@latest",
    messages: [{ role: "user", content: "hi" }],
  });
  expect(unknown.json().error.message).toContain('"other@latest" is neither an adapter nor a prepared base model');
  expect((await service.call({ method: "DELETE", url: at })).statusCode).toBe(404);
});

test("ids are written once: a run's adapter takes the next number that is free", async () => {
  const service = await startService();
  putDays(service, ["one", "two"]);
  await service.ended(await startLora(service, { session_id: "one", adapter_id: "shop-1" }));
  expect(await run(service, "shop", { session_ids: ["one", "two"] })).toMatchObject({ run: 2, adapter_id: "shop-2" });
});

test("what a project cannot be is refused in a sentence, and makes none", async () => {
  const service = await startService();
  makeModel(join(service.dataDir, "models", "other-model"));
  putDays(service, ["one", "two"]);
  const refusal = async (name: string, body: object) => {
    const { statusCode, body: text } = await service.post(`/projects/${name}/runs`, body);
    return [statusCode, JSON.parse(text).code];
  };
  expect(await refusal("shop", {})).toEqual([404, "PROJECT_NOT_FOUND"]);
  expect(await refusal("Shop", { session_ids: ["one"] })).toEqual([422, "VALIDATION_FAILED"]);
  expect(await refusal("x".repeat(57), { session_ids: ["one"] })).toEqual([422, "VALIDATION_FAILED"]);
  expect(await refusal("shop", { session_ids: ["nowhere"] })).toEqual([404, "SESSION_NOT_FOUND"]);
  expect(await refusal("shop", { session_ids: ["one"], base_model: "nowhere" })).toEqual([422, "BASE_MODEL_NOT_FOUND"]);
  expect(await refusal("shop", { session_ids: ["one"], trained_on: 1 })).toEqual([422, "VALIDATION_FAILED"]);
  expect((await service.get("/projects")).json()).toEqual({ projects: [] });
  expect((await service.get("/projects/shop")).json()).toMatchObject({ code: "PROJECT_NOT_FOUND" });
  await run(service, "shop", { session_ids: ["one", "two"] });
  expect(await refusal("shop", { base_model: "other-model" })).toEqual([422, "VALIDATION_FAILED"]);
});

test("a session that has grown is new again, and one that was deleted is passed over", async () => {
  const service = await startService();
  putDays(service, ["one", "two", "three"]);
  await run(service, "shop", { session_ids: ["one", "two", "three"] });
  const { steps } = sessionOf("one", 1);
  const more = [...steps, { source: "user" as const, text: "And more." }, { source: "agent" as const, text: "More." }];
  const source = { ...makeSession("one").source, sha256: "1".repeat(64) };
  putSession(service.dataDir, "one", sessionOf("one", 1, { steps: more, source }));
  await service.call({ method: "DELETE", url: "/sessions/two" });
  const grown = await run(service, "shop", {});
  expect(grown.sessions).toEqual({ new: 1, replayed: 0, held_out: ["three"] });
  expect(service.jobs.get(grown.train_job_id ?? "")?.request).toMatchObject({ session_ids: ["one"] });
});

test("a run may name 27,000 sessions, and 100,000 of the longest ids: what is refused is one that is not stored", async () => {
  const service = await startService();
  putDays(service, ["one", "two", "three"]);
  const ask = (ids: readonly string[]) => service.post("/projects/shop/runs", { session_ids: ids });
  const named = (count: number, length: number): string[] =>
    Array.from({ length: count }, (_, at) => `s${at}-`.padEnd(length, "x"));
  for (const ids of [named(27_000, 36), named(100_000, 128)])
    expect((await ask(ids)).json()).toMatchObject({ status: 404, code: "SESSION_NOT_FOUND" });
  expect((await ask(named(100_001, 36))).json()).toMatchObject({ status: 422, errors: [{ path: "/session_ids" }] });
  const repeated = Array.from({ length: 27_000 }, (_, at) => ["one", "two", "three"][at % 3] ?? "");
  expect((await ask(repeated)).json()).toMatchObject({ run: { sessions: { new: 2, held_out: ["three"] } } });
});
