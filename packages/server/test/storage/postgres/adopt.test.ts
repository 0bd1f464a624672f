import { chmodSync, existsSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { lockNumber } from "../../../src/storage/postgres/leases.js";
import { inTraining, jobsOn, cluster as rayCluster, until } from "../../runners/ray/cluster.js";
import { PYTHON } from "../../runners/ray/support.js";
import { temporaryFolder } from "../../runners/support.js";
import { useCluster } from "../../support/postgres.js";
import { build, startProcess } from "../../support/process.js";
import { MODEL, makeModel } from "../../support/service.js";

vi.setConfig({ testTimeout: 90_000 }); // services and their processes, on whatever machine

const postgres = useCluster();
beforeAll(build, 120_000);

const shared = async (behaviour: object = {}) => {
  const [ray, database_url] = [await rayCluster(behaviour), await postgres().create()];
  return { ...ray, database_url, open: (flags: object = {}) => ray.open({ database_url, ...flags }) };
};

/** Who has an advisory lock, as Postgres lists them: the number in two halves. */
const HOLDERS =
  "select pid from pg_locks where locktype = 'advisory' and granted and (classid::bigint << 32) | objid::bigint = $1::bigint";

const completed = { status: "completed", adapter_id: "a1" };

test("of two services that start at once one follows a job that was left with --adopt", async () => {
  const { open, go, head, storage, dataDir } = await shared();
  const first = await open({ adopt: true });
  const id = await inTraining(first);
  await first.close(0);
  expect(readdirSync(join(dataDir, "services"))).toEqual([]);
  const both = await Promise.all([open({ adopt: true }), open({ adopt: true })]);
  const followers = both.filter(({ jobs }) => jobs.get(id) !== undefined);
  expect(followers).toHaveLength(1);
  go();
  expect(await followers[0]?.ended(id)).toMatchObject(completed);
  for (const service of both) expect((await service.get("/adapters/a1")).json()).toMatchObject({ health: "ok", job_id: id });
  expect([head.submissions.length, head.stops, jobsOn(storage)]).toEqual([1, [], []]);
});

test("a service that starts beside one that works leaves its jobs to it, though it adopts none", async () => {
  const { open, go, head, storage } = await shared();
  const first = await open();
  const id = await inTraining(first);
  const second = await open();
  await second.close(0);
  expect(second.jobs.get(id)).toBeUndefined();
  const [instance] = readdirSync(join(storage, "jobs"));
  const folder = join(storage, "jobs", String(instance), id);
  expect(readdirSync(folder).flatMap((name) => (name === "job.json" ? [] : readdirSync(join(folder, name))))).not.toContain(
    "stop.json",
  );
  go();
  expect(await first.ended(id)).toMatchObject(completed);
  expect([head.submissions.length, head.stops]).toEqual([1, []]);
});

test("what no service adopts is stopped by the next one, and its checkpoint can be salvaged", async () => {
  const { open, head, storage, dataDir } = await shared({ checkpoint: true });
  const first = await open({ adopt: true });
  const id = await inTraining(first);
  await first.reached(id, ({ checkpoint }) => checkpoint !== null);
  await first.close(0);
  const second = await open();
  await until(() => jobsOn(storage).length === 0);
  expect(existsSync(join(dataDir, "checkpoints", id, "checkpoint.json"))).toBe(true);
  expect(["STOPPED", "SUCCEEDED"]).toContain(head.status(String(head.submissions[0]?.submission_id)));
  const salvage = await vi.waitFor(async () => {
    const answer = await second.post(`/jobs/${id}/salvage`);
    expect(answer.statusCode).toBe(202); // once it has let go of the job
    return answer.json<{ job_id: string }>();
  });
  expect(await second.ended(salvage.job_id)).toMatchObject({ status: "completed" });
});

/** An interpreter for the cluster: a real one for the supervisor, whose trainer is the fixture. */
const interpreter = (behaviour: object): string => {
  const trainer = fileURLToPath(new URL("../../fixtures/workers/trainer.mjs", import.meta.url));
  const path = join(temporaryFolder(), "python");
  writeFileSync(
    path,
    `#!/bin/sh\n[ "$2" = imprint_trainer.remote ] && exec "${PYTHON}" "$@"\nexec "${process.execPath}" "${trainer}" '${JSON.stringify(behaviour)}'\n`,
  );
  chmodSync(path, 0o755);
  return path;
};

test("the jobs of a service that was killed are followed by the next one, once it shows no life any more", async () => {
  const { open, head, storage, dataDir, database_url } = await shared();
  const gate = join(temporaryFolder(), "go");
  makeModel(join(dataDir, "models", MODEL));
  const killed = await startProcess(temporaryFolder(), {
    env: {
      IMPRINT_DATA_DIR: dataDir,
      IMPRINT_DATABASE_URL: database_url,
      IMPRINT_RUNNER: "ray",
      IMPRINT_RAY_ADDRESS: head.address,
      IMPRINT_RAY_TOKEN: "a-token-of-the-cluster",
      IMPRINT_RAY_PYTHON: interpreter({ wait_for: gate }),
      IMPRINT_STORAGE: storage,
      IMPRINT_ADOPT: "true",
    },
  });
  const id = await killed.start({ session_id: "s1", adapter_id: "a1" });
  await vi.waitFor(
    async () => {
      const { progress } = (await (await killed.fetch(`/jobs/${id}/details`)).json()) as { progress: object | null };
      expect(progress).not.toBeNull();
    },
    { timeout: 30_000, interval: 50 },
  );
  killed.child.kill("SIGKILL");
  await killed.ended;
  const early = await open({ adopt: true });
  expect(early.jobs.get(id)).toBeUndefined();
  await early.close(0);
  const [left] = readdirSync(join(dataDir, "services"));
  const long = new Date(Date.now() - 11 * 60_000);
  utimesSync(join(dataDir, "services", String(left), "alive"), long, long);
  const second = await open({ adopt: true });
  writeFileSync(gate, "");
  expect(await second.ended(id)).toMatchObject(completed);
  expect((await second.get("/adapters/a1")).json()).toMatchObject({ health: "ok", job_id: id });
  expect([head.submissions.length, head.stops, jobsOn(storage)]).toEqual([1, [], []]);
});

test("a service whose job another one has by the time that it is back lets go of it, and leaves it as it is", async () => {
  const { open, go, head, storage, database_url } = await shared();
  const first = await open();
  const id = await inTraining(first);
  const other = new pg.Client({ connectionString: database_url });
  await other.connect();
  onTestFinished(() => other.end());
  const [lock] = (await other.query(HOLDERS, [lockNumber(`job:${id}`)])).rows;
  const taken = other.query("select pg_advisory_lock($1)", [lockNumber(`job:${id}`)]);
  await vi.waitFor(async () =>
    expect(await postgres().query("select pid from pg_locks where locktype = 'advisory' and not granted")).toHaveLength(1),
  );
  await postgres().query(`select pg_terminate_backend(${lock.pid})`);
  await taken;
  expect(await first.ended(id)).toMatchObject({ status: "failed", error: { code: "JOB_TAKEN_OVER" } });
  expect([jobsOn(storage), head.stops]).toEqual([[id], []]);
  go();
  const [submission] = head.submissions;
  await until(() => head.status(String(submission?.submission_id)) === "SUCCEEDED");
  await other.query("select pg_advisory_unlock($1)", [lockNumber(`job:${id}`)]);
  await first.close(0);
  const second = await open({ adopt: true });
  expect(await second.ended(id)).toMatchObject(completed);
});
