import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { makeFolder, type Service, startService } from "../support/service.js";
import { projectOf, putDays, run, runReached, startRun } from "./support.js";

// Runs are trainings and evaluations, by real processes.
vi.setConfig({ testTimeout: 60_000 });

const remove = (service: Service, name: string) => service.call({ method: "DELETE", url: `/projects/${name}` });

test("a deleted project is gone with its runs and its latest, its sessions and adapters stay, and its streams end", async () => {
  const service = await startService();
  putDays(service, ["one", "two", "three"]);
  await run(service, "shop", { session_ids: ["one", "two"], rank: 4 });
  const events = await fetch(`${service.url}/projects/shop/events`);
  expect((await remove(service, "shop")).statusCode).toBe(204);
  expect(await events.text()).toContain(`{"type":"resync","reason":"The project was deleted."}`);
  for (const [method, url] of [
    ["GET", "/projects/shop"],
    ["GET", "/projects/shop/events"],
    ["DELETE", "/projects/shop"],
    ["DELETE", "/projects/No%20name"],
    ["POST", "/projects/shop/rollback"],
  ] as const)
    expect((await service.call({ method, url })).json()).toMatchObject({ status: 404, code: "PROJECT_NOT_FOUND" });
  expect((await service.get("/projects")).json()).toEqual({ projects: [] });
  expect((await service.get("/adapters/shop%40latest")).statusCode).toBe(404);
  expect((await service.get("/adapters/shop-1")).json()).toMatchObject({ health: "ok", metadata: { project: "shop" } });
  expect((await service.get("/sessions/one")).statusCode).toBe(200);

  // Its name is free, and its adapter's id is taken.
  expect(await run(service, "shop", { session_ids: ["one", "two", "three"] })).toMatchObject({
    adapter_id: "shop-2",
    sessions: { new: 2, replayed: 0 },
  });
  expect(await projectOf(service, "shop")).toMatchObject({ settings: {}, sessions: 3, latest: { adapter_id: "shop-2" } });
});

test("a project is not deleted while a run of it goes on, in the training and in the evaluation", async () => {
  const [train, evaluate] = [join(makeFolder(), "go"), join(makeFolder(), "go")];
  const service = await startService({ behaviour: { wait_for: train, evaluate: { wait_for: evaluate } } });
  putDays(service, ["one", "two"]);
  await startRun(service, "shop", { session_ids: ["one", "two"] });
  const refused = { status: 409, code: "PROJECT_BUSY" };
  expect((await remove(service, "shop")).json()).toMatchObject({ ...refused, detail: expect.stringMatching(/is training/) });
  writeFileSync(train, "");
  await runReached(service, "shop", ({ status }) => status === "evaluating");
  expect((await remove(service, "shop")).json()).toMatchObject({ ...refused, detail: expect.stringMatching(/is evaluating/) });
  writeFileSync(evaluate, "");
  await runReached(service, "shop", ({ status }) => status === "completed");
  expect((await remove(service, "shop")).statusCode).toBe(204);
});
