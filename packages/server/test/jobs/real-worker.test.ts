import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JobResult, LoraTask } from "@imprint/contracts";
import { expect, test } from "vitest";
import { systemClock } from "../../src/common/clock.js";
import { createJobs } from "../../src/jobs/create-jobs.js";
import { createIds } from "../../src/jobs/ids.js";
import type { Job } from "../../src/jobs/job.js";
import type { Jobs } from "../../src/jobs/jobs.js";
import type { Kind } from "../../src/jobs/kind.js";
import { onRunner } from "../../src/jobs/on-runner.js";
import type { Spawn } from "../../src/runners/local/process.js";
import { quietLog } from "../common/quiet-log.js";
import { loraTask, runnerOn, temporaryFolder } from "../runners/support.js";

const clock = systemClock();
const limits = { slots: 1, maxQueued: 2000, keepFinished: 5000, keepFinishedMs: 1e9, maxJobMs: 1e9 };

interface Service {
  readonly jobs: Jobs;
  readonly staging: string;
  /** Names of the files that were there to be registered. */
  readonly registered: readonly string[];
  /** Submits a training with a behaviour of trainer.mjs. */
  submit(behaviour?: object): Job;
  /** Resolves with the first version of the job, past or to come, that answers the question. */
  reached(job_id: string, question: (job: Job) => boolean): Promise<Job>;
}

const over = ({ finished_at }: Job): boolean => finished_at !== null;

function service(options: { readonly spawn?: Spawn; readonly maxJobMs?: number } = {}): Service {
  const { maxJobMs = limits.maxJobMs, ...rest } = options;
  const runner = runnerOn("trainer.mjs", [], rest);
  const staging = temporaryFolder();
  const registered: string[] = [];
  let count = 0;
  const kind: Kind<{ readonly adapter_id: string; readonly behaviour: object }, LoraTask, JobResult> = {
    reserves: ({ adapter_id }) => adapter_id,
    async prepare({ job_id, request }) {
      const output_dir = join(staging, request.adapter_id);
      const session_path = join(temporaryFolder(), "session.json");
      writeFileSync(`${session_path}.behaviour.json`, JSON.stringify(request.behaviour));
      mkdirSync(output_dir);
      return { ...loraTask({ output_dir, session_paths: [session_path] }), job_id };
    },
    run: onRunner,
    async finish({ task }) {
      registered.push(...readdirSync(task.spec.output_dir));
    },
    async discard({ request }) {
      rmSync(join(staging, request.adapter_id), { recursive: true });
    },
    shows: ({ adapter_id }, { proof }) => ({ adapter_id, proof, result: null }),
  };
  const jobs = createJobs({
    kinds: { lora: kind, sweep: kind, hypernetwork: kind, export: kind, evaluate: kind, pull: kind },
    runner,
    clock,
    newId: createIds({ clock }),
    limits: { ...limits, maxJobMs },
    log: quietLog(),
  });
  return {
    jobs,
    staging,
    registered,
    submit(behaviour = {}) {
      count += 1;
      return jobs.submit({ kind: "lora", request: { adapter_id: `a-${count}`, behaviour } });
    },
    reached: (job_id, question) =>
      new Promise((resolve) => {
        const look = (job: Job | undefined): void => {
          if (job?.job_id !== job_id || !question(job)) return;
          stop();
          resolve(job);
        };
        const stop = jobs.subscribe(look);
        look(jobs.get(job_id));
      }),
  };
}

test("a training goes through its phases and completes", async () => {
  const { jobs, staging, registered, submit, reached } = service();
  const phases: (string | null)[] = [];
  jobs.subscribe(({ phase }) => phase !== phases.at(-1) && phases.push(phase));
  const { job_id } = submit();
  const job = await reached(job_id, over);
  expect(job).toMatchObject({ status: "completed", adapter_id: "a-1", progress: { step: 3, steps: 3 }, plan: { max_steps: 3 } });
  expect(phases).toEqual([null, "starting", "preparing_data", "loading_model", "training", "saving", "proving", "registering"]);
  expect(registered).toContain("adapter_model.safetensors");
  expect(readdirSync(staging)).toEqual([]);
  expect(jobs.log(job_id)).toContain("training a");
});

test.each(["training", "saving"])("cancelled in %s, a job leaves nothing behind", async (wait_in) => {
  const { jobs, staging, submit, reached } = service();
  const { job_id } = submit({ wait_in, wait_for: join(staging, "never") });
  await reached(job_id, ({ phase }) => phase === wait_in);
  jobs.cancel(job_id);
  expect(await reached(job_id, over)).toMatchObject({ status: "cancelled", adapter_id: null });
  expect(readdirSync(staging)).toEqual([]);
});

test("a job that runs too long is stopped", async () => {
  const { staging, submit, reached } = service({ maxJobMs: 300 });
  const { job_id } = submit({ wait_for: join(staging, "never") });
  expect(await reached(job_id, over)).toMatchObject({ status: "failed", error: { code: "JOB_TIMEOUT" } });
  expect(readdirSync(staging)).toEqual([]);
});

test("a trainer that finds the disk full fails the job, and the next one runs", async () => {
  const { staging, submit, reached } = service();
  const fail = { code: "DISK_FULL", message: "The disk is full.", hint: "Free some." };
  const [first, second] = [submit({ fail }), submit()];
  expect(await reached(first.job_id, over)).toMatchObject({ status: "failed", error: fail });
  expect(existsSync(join(staging, "a-1"))).toBe(false);
  expect(await reached(second.job_id, over)).toMatchObject({ status: "completed" });
});

test("1000 queued jobs cancelled start no process", async () => {
  let spawned = 0;
  const spawn: Spawn = () => {
    spawned += 1;
    throw new Error("spawned");
  };
  const { jobs, submit } = service({ spawn });
  const ids = Array.from({ length: 1000 }, () => submit().job_id);
  for (const id of ids) jobs.cancel(id);
  await jobs.close(1000);
  expect(jobs.counts()).toEqual({ queued: 0, running: 0, completed: 0, failed: 0, cancelled: 1000 });
  expect(spawned).toBe(0);
});

test("a start call takes under 20 ms while a job trains", async () => {
  const { jobs, staging, submit, reached } = service();
  const { job_id } = submit({ wait_for: join(staging, "go") });
  await reached(job_id, ({ progress }) => progress !== null);
  const times = Array.from({ length: 200 }, () => {
    const before = performance.now();
    submit();
    return performance.now() - before;
  });
  expect(times.sort((a, b) => a - b)[190]).toBeLessThan(20);
  for (const { job_id: waiting } of jobs.list({ status: "queued", limit: 500 }).jobs) jobs.cancel(waiting);
  writeFileSync(join(staging, "go"), "");
  expect(await reached(job_id, over)).toMatchObject({ status: "completed" });
});
