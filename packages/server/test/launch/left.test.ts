import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { JobList, Resubmitted } from "@imprint/contracts";
import { Check } from "typebox/value";
import { expect, test, vi } from "vitest";
import { makeFolder, type Service, startLora, startService } from "../support/service.js";
import { putSession } from "../support/session.js";

const never = (): string => join(makeFolder(), "never");

const leftOf = async (service: Service): Promise<JobList["left"]> => {
  const list = (await service.get("/jobs?limit=1")).json();
  expect(Check(JobList, list)).toBe(true);
  return list.left;
};

const resubmit = async (service: Service): Promise<Resubmitted> => {
  const answer = (await service.post("/jobs/resubmit")).json();
  expect(Check(Resubmitted, answer)).toBe(true);
  return answer;
};

/** A service that was stopped with trainings that waited behind one, and so again. */
const stopped = async (dataDir: string, ...stops: readonly (readonly string[])[]): Promise<void> => {
  putSession(dataDir, "s");
  for (const waiting of stops) {
    const service = await startService({ dataDir, behaviour: { wait_for: never() } });
    const running = await startLora(service, { session_id: "s", adapter_id: `runs-${waiting[0]}` });
    await service.reached(running, ({ progress }) => progress !== null);
    for (const adapter_id of waiting) await startLora(service, { session_id: "s", adapter_id, seed: 7 });
    await service.close(0);
  }
};

test("jobs that waited at stops are counted, and started again in their order with all they were asked; once", async () => {
  const dataDir = makeFolder();
  await stopped(dataDir, ["a", "b"], ["c"]);
  const service = await startService({ dataDir });
  expect(await leftOf(service)).toMatchObject({ unstarted: 3 });
  const { jobs, refused, kept } = await resubmit(service);
  expect([jobs.length, refused, kept]).toEqual([3, [], 0]);
  const ended = await Promise.all(jobs.map(({ job_id }) => service.ended(job_id)));
  expect(ended.map(({ adapter_id, request }) => [adapter_id, request.seed])).toEqual([
    ["a", 7],
    ["b", 7],
    ["c", 7],
  ]);
  expect(await leftOf(service)).toMatchObject({ unstarted: 0 });
  expect(await resubmit(service)).toEqual({ jobs: [], refused: [], kept: 0 });
});

test("what a killed service was starting again is started by the next one", async () => {
  const dataDir = makeFolder();
  await stopped(dataDir, ["a"], ["b", "c"]);
  const killed = await startService({ dataDir });
  expect(await leftOf(killed)).toMatchObject({ unstarted: 3 });
  // What a service does not survive: here a fault in the middle.
  const launched = vi.spyOn(killed.jobs, "submit").mockImplementationOnce(() => {
    throw new Error("killed");
  });
  expect((await killed.post("/jobs/resubmit")).statusCode).toBe(500);
  launched.mockRestore();
  await killed.close(0);

  const service = await startService({ dataDir });
  expect(await leftOf(service)).toMatchObject({ unstarted: 3 });
  const answers = await Promise.all([resubmit(service), resubmit(service)]);
  expect(answers.map((answer) => [answer.jobs.length, answer.refused, answer.kept])).toEqual([
    [3, [], 0],
    [0, [], 0],
  ]);
  expect(readdirSync(dataDir).filter((name) => name.startsWith("unstarted"))).toEqual([]);
});

test("of what is started again, what is taken by now is refused in a sentence, and what finds no place stays kept", async () => {
  const dataDir = makeFolder();
  await stopped(dataDir, ["a", "b", "c", "d"]);
  const service = await startService({ dataDir, behaviour: { wait_for: never() }, flags: { max_queued: 1 } });
  await service.reached(await startLora(service, { session_id: "s", adapter_id: "a" }), ({ status }) => status === "running");
  const { jobs, refused, kept } = await resubmit(service);
  expect(jobs.map(({ job_id }) => service.jobs.get(job_id)?.reserved_adapter_id)).toEqual(["b"]);
  expect(refused).toEqual([{ kind: "lora", reason: expect.stringContaining("The adapter_id a is taken") }]);
  expect([kept, (await leftOf(service)).unstarted]).toEqual([2, 2]);
});

test("a file that says something else is no jobs; the runs of projects are their projects' to go on with", async () => {
  const dataDir = makeFolder();
  await stopped(dataDir, ["a"]);
  const file = join(dataDir, "unstarted.json");
  expect(JSON.parse(readFileSync(file, "utf8")).jobs).toHaveLength(1);
  writeFileSync(file, '{"version": 1, "jobs": [{"kind": "other"}]}');
  const service = await startService({ dataDir, behaviour: { wait_for: never() } });
  expect(await leftOf(service)).toMatchObject({ unstarted: 0 });
  await service.reached(await startLora(service, { session_id: "s" }), ({ status }) => status === "running");
  await startLora(service, { session_id: "s", adapter_id: "shop-1", metadata: { project: "shop", run: "1" } });
  await service.close(0);
  expect(await leftOf(await startService({ dataDir }))).toMatchObject({ unstarted: 0 });
});

test("what can go on is listed, whether its service knows the job or was lost with it, and not while it goes on", async () => {
  const dataDir = makeFolder();
  putSession(dataDir, "s");
  const first = await startService({ dataDir, behaviour: { wait_for: never(), checkpoint: true } });
  const lost = await startLora(first, { session_id: "s", adapter_id: "lost" });
  await first.reached(lost, ({ checkpoint }) => checkpoint !== null);
  expect((await leftOf(first)).checkpoints).toEqual([]);
  await first.close(0);

  const service = await startService({ dataDir, behaviour: { wait_for: never(), checkpoint: true } });
  const kept = { job_id: lost, kind: "lora", adapter_id: "lost", written_at: expect.any(String) };
  expect((await leftOf(service)).checkpoints).toEqual([kept]);
  const cancelled = await startLora(service, { session_id: "s", adapter_id: "cancelled" });
  await service.reached(cancelled, ({ checkpoint }) => checkpoint !== null);
  await service.post(`/jobs/${cancelled}/cancel`);
  await service.ended(cancelled);
  expect((await leftOf(service)).checkpoints.map(({ job_id }) => job_id)).toEqual([cancelled, lost]);
});
