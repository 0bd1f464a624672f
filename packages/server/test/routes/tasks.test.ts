import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Adapter, type TaskMeasurements, TaskReport, type TaskRowName, type TaskRun } from "@imprint/contracts";
import { Check } from "typebox/value";
import { expect, test } from "vitest";
import { type Service, startLora, startService } from "../support/service.js";
import { putSession } from "../support/session.js";

const withAdapter = async (): Promise<Service> => {
  const service = await startService();
  putSession(service.dataDir, "seen");
  await service.ended(await startLora(service, { session_id: "seen", adapter_id: "a" }));
  return service;
};

const run = (task: string, row: TaskRowName, outcome: TaskRun["outcome"]): TaskRun => ({
  ...{
    task,
    row,
    seed: 0,
    outcome,
    detail: null,
    turns: 2,
    prompt_tokens: 50,
    completion_tokens: 5,
    seconds: 1.5,
    session_id: null,
  },
});

const NAMES = ["one", "two", "three", "four", "five", "six"];
const MEASURED: TaskMeasurements = {
  ...{ agent: "mini-swe-agent", control_adapter_id: null, seeds: 1 },
  tasks: NAMES.map((name) => ({ name, sha256: "0".repeat(64), family: null, prompt: "Fix it.", session_id: null })),
  runs: NAMES.flatMap((name) => [run(name, "base", "no_call"), run(name, "adapter", "solved")]),
};

const put = (service: Service, body: object, adapter = "a") =>
  service.call({ method: "PUT", url: `/adapters/${adapter}/tasks`, payload: body });

test("what is measured on tasks lies beside the adapter's proof, and what it means the service says", async () => {
  const service = await withAdapter();
  expect((await service.get("/adapters/a")).json().tasks).toBeNull();
  const half = await put(service, { ...MEASURED, runs: MEASURED.runs.slice(0, 4) });
  expect(half.statusCode).toBe(200);
  expect(half.json()).toMatchObject({ verdict: null, sentence: expect.stringContaining("4 of 12 runs are measured") });
  expect((await service.get("/adapters")).json().adapters[0].tasks).toMatchObject({ verdict: null, solved: 2, of: 2 });

  const report = (await put(service, MEASURED)).json();
  expect(Check(TaskReport, report)).toBe(true);
  expect(report).toMatchObject({
    adapter_id: "a",
    verdict: "solves_more",
    rows: [{ solved: 0 }, { solved: 6, p_value: 0.03125 }],
  });
  expect((await service.get("/adapters/a/tasks")).json()).toEqual(report);
  const file = join(service.dataDir, "adapters", "a", "tasks.json");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(report);
  const adapter = (await service.post("/adapters/a/verify")).json();
  expect(Check(Adapter, adapter)).toBe(true);
  const { verdict, sentence } = report;
  expect(adapter).toMatchObject({ health: "ok", tasks: { verdict, sentence, solved: 6, of: 6 } });

  await service.close(0);
  const again = await startService({ dataDir: service.dataDir });
  expect((await again.get("/adapters/a/tasks")).json()).toEqual(report);
  expect((await again.call({ method: "DELETE", url: "/adapters/a?purge=true" })).statusCode).toBe(204);
  expect(existsSync(file)).toBe(false);
  expect((await again.get("/adapters/a/tasks")).json()).toMatchObject({ status: 404, code: "ADAPTER_NOT_FOUND" });
});

test("a verdict cannot be sent, nor runs of what was not asked for", async () => {
  const service = await withAdapter();
  const [first, ...others] = MEASURED.runs as [TaskRun, ...TaskRun[]];
  const refused = [
    [{ ...MEASURED, verdict: "solves_more" }, "/verdict"],
    [{ ...MEASURED, tasks: [...MEASURED.tasks, MEASURED.tasks[0]] }, "/tasks"],
    [{ ...MEASURED, runs: [{ ...first, task: "other" }] }, "/runs"],
    [{ ...MEASURED, runs: [{ ...first, row: "control" }] }, "/runs"],
    [{ ...MEASURED, runs: [{ ...first, seed: 1 }] }, "/runs"],
    [{ ...MEASURED, runs: [first, first, ...others] }, "/runs"],
    [{ ...MEASURED, runs: [{ ...first, outcome: "won" }] }, "/runs/0/outcome"],
  ] as const;
  for (const [body, path] of refused) {
    const { statusCode, body: text } = await put(service, body);
    expect([statusCode, JSON.parse(text).errors?.[0]?.path]).toEqual([422, path]);
  }
  expect((await service.get("/adapters/a/tasks")).json()).toMatchObject({
    status: 404,
    code: "TASKS_NOT_FOUND",
    detail: expect.stringContaining("imprint evaluate a --tasks FOLDER"),
  });
  expect((await put(service, MEASURED, "nobody")).statusCode).toBe(404);
});
