import { createHash } from "node:crypto";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { ImprintError } from "../../src/common/error.js";
import type { Job } from "../../src/jobs/job.js";
import { createIdempotency } from "../../src/launch/idempotency.js";
import { createProjects } from "../../src/projects/projects.js";
import { openDatabase } from "../../src/storage/open.js";
import { manualClock } from "../common/manual-clock.js";
import { makeFolder, makeModel } from "../support/service.js";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
const dayOf = (id: string): string => `2026-01-0${id.at(-1)}T00:00:00.000Z`;

const sessions = {
  require: async () => {},
  summary: async (session_id: string) => ({
    session_id,
    outcome: "success",
    assistant_turns: 3,
    trainable_turns: 3,
    sha256: hash(session_id),
    created_at: dayOf(session_id),
  }),
  touched: async (id: string) => ({ startedAt: dayOf(id), content: hash(`c${id}`), opening: hash(`o${id}`), characters: 4000 }),
};

/** Jobs of one service, as the test moves them. */
const createFakeJobs = () => {
  const all = new Map<string, Job>();
  const listeners: ((job: Job) => void)[] = [];
  const put = (job: Job): void => {
    all.set(job.job_id, job);
    for (const listener of listeners) listener(job);
  };
  let refusal: ImprintError | null = null;
  return {
    all,
    refuse: (error: ImprintError | null) => {
      refusal = error;
    },
    last: () => [...all.values()].at(-1) as Job,
    end: (status: "completed" | "failed" | "cancelled", error: Job["error"] = null) =>
      put({ ...([...all.values()].at(-1) as Job), status, error }),
    get: (id: string) => all.get(id),
    isReserved: () => false,
    cancel: (id: string) => put({ ...(all.get(id) as Job), status: "cancelled" }),
    subscribe: (listener: (job: Job) => void) => {
      listeners.push(listener);
      return () => {};
    },
    submit: (start: { kind: string; request: object }) => {
      if (refusal) throw refusal;
      const job = { ...start, job_id: `01ARZ3NDEKTSV4RRFFQ69G5FA${all.size}`, status: "queued", error: null } as unknown as Job;
      put(job);
      return job;
    },
  };
};

const createHouse = () => {
  const folder = makeFolder();
  const stored = openDatabase({ path: join(folder, "registry.db") });
  onTestFinished(() => stored.destroy());
  let away = false;
  const database = new Proxy(stored, {
    get(target, name) {
      if (away && name === "startTransaction")
        return () => ({ execute: () => Promise.reject(new Error("the database is away")) });
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const models = { fallback: "M", setup: { models: { M: makeModel(join(folder, "M")) } }, folder, roots: [], hubCache: folder };
  const kind = { reserves: ({ adapter_id }: { adapter_id: string }) => adapter_id };
  const clock = manualClock();

  const openService = (jobs = createFakeJobs()) => {
    let failed = (): void => {};
    const log = { warn() {}, info() {}, debug() {}, error: () => failed() };
    const projects = createProjects({
      deps: { database, paths: { checkpoints: folder }, sessions, models, now: () => new Date(0) },
      kinds: { lora: kind, evaluate: { reserves: () => null } },
      idempotency: createIdempotency({ capacity: 1 }),
      jobs,
      random: { seed: () => 1, suffix: () => "abcd" },
      clock,
      closing: new AbortController().signal,
      log,
    } as unknown as Parameters<typeof createProjects>[0]);
    const logged = (): Promise<void> =>
      new Promise((resolve) => {
        failed = resolve;
      });
    return { jobs, projects, logged };
  };
  const setAway = (value: boolean): void => {
    away = value;
  };
  return { openService, setAway, clock, stored };
};

const THREE = { session_ids: ["s1", "s2", "s3"] };
const statusOf = async ({ projects }: ReturnType<ReturnType<typeof createHouse>["openService"]>) =>
  (await projects.get("shop")).runs.map(({ status }) => status);

test.each(["failed", "cancelled"] as const)(
  "a run whose job is %s while the database is away ends by itself once the database is back",
  async (status) => {
    const { openService, setAway, clock } = createHouse();
    const service = openService();
    await service.projects.start("shop", THREE);
    const logged = service.logged();
    setAway(true);
    service.jobs.end(status);
    await logged;
    setAway(false);
    clock.advance(60_000);
    await service.projects.close();
    expect(await statusOf(service)).toEqual([status]);
  },
);

test("a run whose job ended while the database was away is in nobody's way, and goes on when it is asked to", async () => {
  const { openService, setAway } = createHouse();
  const service = openService();
  await service.projects.start("shop", THREE);
  const logged = service.logged();
  setAway(true);
  service.jobs.end("failed");
  await logged;
  setAway(false);
  expect((await service.projects.start("shop", {})).run).toMatchObject({ run: 1, status: "training" });
  service.jobs.end("cancelled");
  await service.projects.remove("shop");
  await expect(service.projects.get("shop")).rejects.toMatchObject({ code: "PROJECT_NOT_FOUND" });
});

test("a training that is done while the database is away is evaluated once it is back", async () => {
  const { openService, setAway, clock } = createHouse();
  const service = openService();
  await service.projects.start("shop", THREE);
  const logged = service.logged();
  setAway(true);
  service.jobs.end("completed");
  await logged;
  setAway(false);
  clock.advance(60_000);
  await service.projects.close();
  // Nobody has registered its adapter here: that is what the evaluation says.
  expect((await service.projects.get("shop")).runs).toMatchObject([{ status: "failed", error: { code: "ADAPTER_NOT_FOUND" } }]);
});

test("a refused run makes no project, and changes none that is there", async () => {
  const { openService } = createHouse();
  const { projects, jobs } = openService();
  jobs.refuse(new ImprintError("QUEUE_FULL", "full"));
  await expect(projects.start("shop", { ...THREE, rank: 32 })).rejects.toMatchObject({ code: "QUEUE_FULL" });
  await expect(projects.get("shop")).rejects.toMatchObject({ code: "PROJECT_NOT_FOUND" });
  expect(await projects.list()).toEqual([]);

  jobs.refuse(null);
  await projects.start("shop", { session_ids: ["s1"], rank: 4 });
  const before = await projects.get("shop");
  expect(before).toMatchObject({ sessions: 1, settings: { rank: 4 }, runs: [] });
  jobs.refuse(new ImprintError("SHUTTING_DOWN", "stops"));
  await expect(projects.start("shop", { ...THREE, rank: 32 })).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
  expect(await projects.get("shop")).toEqual(before);
});

test("a run that cannot be stored calls its job off", async () => {
  const { openService, stored } = createHouse();
  const service = openService();
  await sql`create trigger full before insert on project_runs when new.train_job_id is not null
    begin select raise(abort, 'disk full'); end`.execute(stored);
  await expect(service.projects.start("shop", THREE)).rejects.toThrow();
  expect(service.jobs.last().status).toBe("cancelled");
  await sql`drop trigger full`.execute(stored);
  expect((await service.projects.start("shop", THREE)).run).toMatchObject({ run: 1 });
});

test("a service that starts again marks a run whose job it does not know, and goes on with one whose job it follows", async () => {
  const { openService } = createHouse();
  const first = openService();
  await first.projects.start("shop", THREE);
  const adopting = openService(first.jobs);
  await adopting.projects.recover();
  expect(await statusOf(adopting)).toEqual(["training"]);

  const forgetful = openService();
  await forgetful.projects.recover();
  expect((await forgetful.projects.get("shop")).runs).toMatchObject([
    { status: "interrupted", error: { code: "SHUTTING_DOWN" }, finished_at: expect.any(String) },
  ]);
  expect((await forgetful.projects.start("shop", {})).run).toMatchObject({ run: 1, status: "training", error: null });
});
