import { expect, test } from "vitest";
import { createJobs } from "../../src/jobs/create-jobs.js";
import { createIds } from "../../src/jobs/ids.js";
import type { Job } from "../../src/jobs/job.js";
import { recoverJobs } from "../../src/jobs/start-jobs.js";
import type { LeftJob } from "../../src/runners/runner.js";
import { manualClock } from "../common/manual-clock.js";
import { quietLog } from "../common/quiet-log.js";
import { loraTask } from "../runners/support.js";

const leftBehind = (): LeftJob => {
  const task = loraTask();
  return { job_id: task.job_id, task, memo: { kind: "lora", request: {}, created_at: "2026-01-01T00:00:00Z" } };
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
    kinds: { lora: kind, sweep: kind, hypernetwork: kind, export: kind, evaluate: kind, pull: kind },
    runner: { start: () => expect.unreachable(), adopt: async () => null, release: async (ids) => void released.push(...ids) },
    clock,
    newId: createIds({ clock }),
    limits: { slots: 1, maxQueued: 9, keepFinished: 9, keepFinishedMs: 1e9, maxJobMs: 1e9 },
    log: quietLog(),
  });
  jobs.submit({ kind: "lora", request: {} });
  clock.advance(0);
  const { job_id } = jobs.adopt(leftBehind()) as Job;
  expect(jobs.cancel(job_id)).toMatchObject({ status: "cancelled" });
  await new Promise(setImmediate);
  expect([released, discarded]).toEqual([[job_id], [job_id]]);
});
