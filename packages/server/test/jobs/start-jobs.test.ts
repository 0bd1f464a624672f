import { expect, test } from "vitest";
import { createJobs } from "../../src/jobs/create-jobs.js";
import { createIds } from "../../src/jobs/ids.js";
import type { Job } from "../../src/jobs/job.js";
import { recoverJobs } from "../../src/jobs/start-jobs.js";
import type { LeftJob } from "../../src/runners/runner.js";
import { manualClock } from "../common/manual-clock.js";
import { quietLog } from "../common/quiet-log.js";
import { loraTask } from "../runners/support.js";

const leftBehind = (adapter_id?: string): LeftJob => {
  const task = loraTask();
  return { job_id: task.job_id, task, memo: { kind: "lora", request: { adapter_id }, created_at: "2026-01-01T00:00:00Z" } };
};

test.each([
  ["adopts follows what is left", true, true],
  ["adopts stops what it cannot follow", true, false],
  ["does not adopt stops what is left", false, true],
])("a service that %s", async (_what, adopt, follows) => {
  const job = leftBehind();
  const [adopted, stopped]: [string[], string[]] = [[], []];
  await recoverJobs({
    runner: { leftBehind: async () => [job], release: async (ids) => void stopped.push(...ids) },
    jobs: {
      adopt: ({ job_id }) => {
        if (follows) adopted.push(job_id);
        return follows ? ({ job_id } as Job) : null;
      },
    },
    adopt,
    log: quietLog(),
  });
  expect([adopted, stopped]).toEqual(adopt && follows ? [[job.job_id], []] : [[], [job.job_id]]);
});

/** Jobs whose trainings never end, of adapters that their requests name. */
const endless = () => {
  const [clock, released, discarded] = [manualClock(), [] as string[], [] as string[]];
  const kind = {
    reserves: (request: { adapter_id?: string }) => request.adapter_id ?? null,
    prepare: async () => ({}),
    run: () => new Promise<never>(() => {}),
    finish: async () => {},
    discard: async ({ job_id }: Job) => void discarded.push(job_id),
    shows: () => ({ adapter_id: null, proof: null, result: null }),
  };
  const jobs = createJobs({
    kinds: { lora: kind, sweep: kind, hypernetwork: kind, export: kind, evaluate: kind, pull: kind },
    runner: { start: () => expect.unreachable(), adopt: async () => null, release: async (ids) => void released.push(...ids) },
    clock,
    newId: createIds({ clock }),
    limits: { slots: 1, maxQueued: 9, keepFinished: 9, keepFinishedMs: 1e9, maxJobMs: 1e9 },
    log: quietLog(),
  });
  return { jobs, clock, released, discarded };
};

test("a job that is cancelled before it is followed again is stopped on its runner, and let go of", async () => {
  const { jobs, clock, released, discarded } = endless();
  jobs.submit({ kind: "lora", request: {} });
  clock.advance(0);
  const { job_id } = jobs.adopt(leftBehind()) as Job;
  expect(jobs.cancel(job_id)).toMatchObject({ status: "cancelled" });
  await new Promise(setImmediate);
  expect([released, discarded]).toEqual([[job_id], [job_id]]);
});

test("what is left is followed once, as it was asked, unless its adapter is being made", () => {
  const { jobs } = endless();
  const left = leftBehind("a");
  expect(jobs.adopt({ ...left, memo: null })).toBeNull();
  const followed = { job_id: left.job_id, request: { adapter_id: "a" }, created_at: "2026-01-01T00:00:00Z", status: "queued" };
  expect(jobs.adopt(left)).toMatchObject(followed);
  expect(jobs.isReserved("a")).toBe(true);
  expect(jobs.adopt(left)).toBeNull();
  expect(jobs.adopt(leftBehind("a"))).toBeNull();
  expect(jobs.list({ limit: 9 }).jobs).toHaveLength(1);
});

test("what is left is not followed by a service that is closing", async () => {
  const { jobs } = endless();
  await jobs.close(0);
  expect(jobs.adopt(leftBehind())).toBeNull();
});

test.each([
  [
    "which jobs are left",
    "it is not known which jobs of an earlier run go on: they are left alone until the service starts again",
  ],
  ["how to stop them", "jobs of an earlier run could not be stopped"],
])("a runner that cannot say %s is reported, and the service starts", async (what, said) => {
  const refuse = () => Promise.reject(new Error("no answer"));
  const leftBehindBy = what === "which jobs are left" ? refuse : async () => [leftBehind()];
  const log = quietLog();
  await recoverJobs({ runner: { leftBehind: leftBehindBy, release: refuse }, jobs: endless().jobs, adopt: false, log });
  await new Promise(setImmediate);
  expect(log.lines.at(-1)).toBe(`error: ${said}`);
});
