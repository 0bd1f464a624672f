import { expect, test, vi } from "vitest";
import { createJobs } from "../../src/jobs/create-jobs.js";
import { createIds } from "../../src/jobs/ids.js";
import type { Job } from "../../src/jobs/job.js";
import { type Claims, recoverJobs } from "../../src/jobs/recover.js";
import type { LeftJob } from "../../src/runners/runner.js";
import { manualClock } from "../common/manual-clock.js";
import { quietLog } from "../common/quiet-log.js";
import { loraTask } from "../runners/support.js";

const leftBy = (service: string): LeftJob => {
  const task = loraTask();
  return { job_id: task.job_id, task, memo: { kind: "lora", request: {}, created_at: "2026-01-01T00:00:00Z" }, service };
};

/** A service that recovers; `says` is whose the jobs are, one answer for each time that they are asked about. */
const recovering = async (says: readonly Awaited<ReturnType<Claims["take"]>>[], { adopt = true } = {}) => {
  const [clock, closing] = [manualClock(), new AbortController()];
  const job = leftBy("another");
  const answers = [...says];
  const take = vi.fn(async () => answers.shift() ?? "theirs");
  const [adopted, stopped, released]: [string[], string[], string[]] = [[], [], []];
  await recoverJobs({
    runner: { leftBehind: async () => [job], release: async (ids) => void stopped.push(...ids) },
    jobs: {
      adopt: ({ job_id }) => {
        adopted.push(job_id);
        return { job_id } as Job;
      },
      get: () => undefined,
    },
    claims: { shared: true, take, release: async ({ job_id }) => void released.push(job_id) },
    adopt,
    closing: closing.signal,
    clock,
    log: quietLog(),
  });
  const wait = async (): Promise<void> => {
    clock.advance(30_000);
    await new Promise(setImmediate);
  };
  return { job, take, adopted, stopped, released, closing, clock, wait };
};

test("a job of a service that dies later is adopted at one of the next looks, once", async () => {
  const { job, adopted, stopped, take, wait } = await recovering(["theirs", "unknown", "ours"]);
  expect(adopted).toEqual([]);
  for (let look = 0; look < 5; look += 1) await wait();
  expect([adopted, stopped, take.mock.calls.length]).toEqual([[job.job_id], [], 3]);
});

test("a service that does not adopt stops what is left once it knows, lets go of it, and looks no more", async () => {
  const { job, adopted, stopped, released, clock, wait } = await recovering(["unknown", "ours"], { adopt: false });
  expect(stopped).toEqual([]);
  await wait();
  expect([adopted, stopped, released, clock.armed()]).toEqual([[], [job.job_id], [job.job_id], 0]);
});

test("a service that does not adopt leaves the jobs of those that work to them for good", async () => {
  const { stopped, clock } = await recovering(["theirs"], { adopt: false });
  expect([stopped, clock.armed()]).toEqual([[], 0]);
});

test("a service that begins to stop adopts and stops nothing any more", async () => {
  const { adopted, stopped, closing, clock, wait } = await recovering(["unknown", "ours"]);
  closing.abort();
  await wait();
  expect([adopted, stopped, clock.armed()]).toEqual([[], [], 0]);
});

test("a job that is cancelled before it is followed again is stopped on its runner, and let go of", async () => {
  const [clock, released, discarded] = [manualClock(), [] as string[], [] as string[]];
  const kind = {
    reserves: () => null,
    prepare: async () => ({}),
    run: () => new Promise<never>(() => {}),
    finish: async () => {},
    discard: async ({ job_id }: Job) => void discarded.push(job_id),
    shows: () => ({ adapter_id: null, proof: null, result: null }),
  };
  const jobs = createJobs({
    kinds: { lora: kind, sweep: kind, hypernetwork: kind, export: kind, evaluate: kind },
    runner: { start: () => expect.unreachable(), adopt: async () => null, release: async (ids) => void released.push(...ids) },
    clock,
    newId: createIds({ clock }),
    limits: { slots: 1, maxQueued: 9, keepFinished: 9, keepFinishedMs: 1e9, maxJobMs: 1e9 },
    log: quietLog(),
  });
  jobs.submit({ kind: "lora", request: {} });
  clock.advance(0);
  const { job_id } = jobs.adopt(leftBy("another")) as Job;
  expect(jobs.cancel(job_id)).toMatchObject({ status: "cancelled" });
  await new Promise(setImmediate);
  expect([released, discarded]).toEqual([[job_id], [job_id]]);
});
