import type { JobResult, WorkerTask } from "@imprint/contracts";
import { type Deferred, defer } from "../../src/common/promises.js";
import { createJobs } from "../../src/jobs/create-jobs.js";
import { createIds } from "../../src/jobs/ids.js";
import type { Job } from "../../src/jobs/job.js";
import type { JobLimits, Jobs, Submission } from "../../src/jobs/jobs.js";
import type { Kind } from "../../src/jobs/kind.js";
import { onRunner } from "../../src/jobs/on-runner.js";
import type { Outcome, Runner, TaskEvent } from "../../src/runners/runner.js";
import { type ManualClock, manualClock } from "../common/manual-clock.js";
import { quietLog } from "../common/quiet-log.js";
import { loraTask } from "../runners/support.js";

/** A job's insides, moved by the test. */
export interface Actor {
  readonly prepared: Deferred<void>;
  readonly outcome: Deferred<Outcome>;
  readonly finished: Deferred<void>;
  discard: () => Promise<void>;
  /** What was called, in order. */
  readonly calls: string[];
  tell(event: TaskEvent): void;
}

export interface Stage {
  readonly jobs: Jobs;
  readonly clock: ManualClock;
  readonly log: ReturnType<typeof quietLog>;
  /** Every version of every job, as the subscriber saw it. */
  readonly history: readonly Job[];
  submit(submission?: Partial<Submission> & { readonly adapter_id?: string }): Job;
  actor(job_id: string): Actor;
  /** Starts what can start, and lets everything settle. */
  settle(): Promise<void>;
}

export const result: JobResult = {
  files: [],
  rank: 4,
  alpha: 8,
  warnings: ["from the trainer"],
  proof: {
    supervised_tokens: 1,
    loss_before: 2,
    loss_after: 1,
    neutral_loss_before: 1,
    neutral_loss_after: 1,
    held_out: null,
    keys_expected: 1,
    keys_matched: 1,
    update_norm: 1,
    accepted_by: { peft: true, vllm: true, llama_cpp: true },
    remarks: [],
  },
};

const LIMITS: JobLimits = { slots: 1, maxQueued: 100, keepFinished: 100, keepFinishedMs: 1e9, maxJobMs: 1e6 };

/** Real jobs on a stage where the test plays the runner, the kind and the clock. */
export function createStage(limits: Partial<JobLimits> = {}): Stage {
  const clock = manualClock();
  const log = quietLog();
  const actors = new Map<string, Actor>();
  const byTask = new Map<WorkerTask, Actor>();
  const history: Job[] = [];
  let count = 0;

  const runner: Runner = {
    start(task, onEvent) {
      const actor = byTask.get(task) as Actor;
      actor.calls.push("start");
      actor.tell = onEvent;
      return { cancel: () => void actor.calls.push("cancel"), outcome: actor.outcome.promise };
    },
    adopt: async () => null,
    leftBehind: async () => [],
    release: async () => {},
    close: () => Promise.resolve(),
  };
  const actorOf = ({ job_id }: Job): Actor => actors.get(job_id) as Actor;
  const kind: Kind<{ readonly adapter_id: string }, WorkerTask, JobResult> = {
    reserves: ({ adapter_id }) => adapter_id,
    async prepare(job) {
      actorOf(job).calls.push("prepare");
      await actorOf(job).prepared.promise;
      const task = loraTask();
      byTask.set(task, actorOf(job));
      return task;
    },
    run: onRunner,
    finish({ job }) {
      actorOf(job).calls.push("finish");
      return actorOf(job).finished.promise;
    },
    discard(job) {
      actorOf(job).calls.push("discard");
      return actorOf(job).discard();
    },
    shows: ({ adapter_id }, { proof }) => ({ adapter_id, proof, result: null }),
  };
  const kinds = { lora: kind, sweep: kind, hypernetwork: kind, export: kind, evaluate: kind, pull: kind };
  const jobs = createJobs({ kinds, runner, clock, newId: createIds({ clock }), limits: { ...LIMITS, ...limits }, log });
  jobs.subscribe((job) => history.push(job));

  return {
    jobs,
    clock,
    log,
    history,
    submit({ adapter_id, request = {}, ...submission } = {}) {
      count += 1;
      const actor: Actor = {
        prepared: defer(),
        outcome: defer(),
        finished: defer(),
        discard: async () => {},
        calls: [],
        tell: () => {},
      };
      const job = jobs.submit({
        kind: "lora",
        request: { seed: 7, adapter_id: adapter_id ?? `adapter-${count}`, ...request },
        ...submission,
      });
      actors.set(job.job_id, actor);
      return job;
    },
    actor: (job_id) => actors.get(job_id) as Actor,
    async settle() {
      clock.advance(0);
      await new Promise(setImmediate);
      clock.advance(0);
    },
  };
}
