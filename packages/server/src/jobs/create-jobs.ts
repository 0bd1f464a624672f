import { asImprintError, ImprintError, type Log } from "../common/error.js";
import type { TaskEvent } from "../runners/runner.js";
import { createJob, type Job } from "./job.js";
import type { Jobs, JobsOptions, Submission } from "./jobs.js";
import type { Kind, Made, RunContext } from "./kind.js";
import { createListeners } from "./listeners.js";
import { createLogTails } from "./log-tails.js";
import { adopting, remembering } from "./on-runner.js";
import { createScheduler } from "./scheduler.js";
import { type JobChange, transition } from "./state-machine.js";
import { isTerminal } from "./status.js";
import { createStore, pageOf } from "./store.js";

/** How a job ended; `failed` also when it was stopped, since the caller knows why it stopped it. */
type JobEnd =
  | { readonly type: "completed"; readonly made: Made; readonly warnings: readonly string[] }
  | { readonly type: "failed"; readonly error: ImprintError };

interface RunOptions extends RunContext {
  readonly kind: Kind;
  /** Of a job that is under way already: nothing is prepared. */
  readonly task?: unknown;
  /** The job as it is now. */
  readonly job: () => Job;
  /** The run is over; its files are about to be validated and registered. */
  readonly onRegistering: () => void;
  readonly log: Log;
}

/** One job from start to end. Never rejects. What was staged is gone when it resolves, unless it could not be removed. */
async function runJob({ kind, task: underWay, job, onRegistering, log, ...context }: RunOptions): Promise<JobEnd> {
  const { signal } = context;
  const { job_id, request } = job();
  let prepared = false;
  let registered = false;
  try {
    let result = underWay === undefined ? await kind.existing?.(job()) : null;
    if (!result) {
      const task = underWay ?? (await kind.prepare(job(), signal));
      prepared = true;
      signal.throwIfAborted();
      result = await kind.run(task, context);
      signal.throwIfAborted();
      onRegistering();
      await kind.finish({ job: job(), task, result, signal });
      registered = true;
    }
    return { type: "completed", made: kind.shows(request, result), warnings: result.warnings };
  } catch (thrown) {
    const error = asImprintError(thrown);
    if (error.code === "INTERNAL_ERROR" && !signal.aborted) log.error({ err: thrown, job_id }, "a job failed inside the service");
    return { type: "failed", error };
  } finally {
    if (prepared)
      await kind.discard(job(), { registered }).catch((err: unknown) => {
        log.error({ err, job_id }, "a staging folder could not be removed; the next start removes it");
      });
  }
}

/** The jobs of this process: kept in its memory only, run first come, first served. */
export function createJobs({ keepUnstarted = async () => {}, kinds, runner, clock, newId, limits, log }: JobsOptions): Jobs {
  const changes = createListeners<[job: Job]>(log);
  const logText = createListeners<[job_id: string, text: string]>(log);
  const tails = createLogTails();
  const store = createStore({ clock, ...limits, onForget: tails.forget });
  const running = new Map<string, AbortController>();
  const left = new Map<string, unknown>(); // tasks of jobs that are under way on a runner
  let closing = false;

  const now = (): string => new Date(clock.now()).toISOString();

  const save = (job: Job): Job => {
    if (isTerminal(job.status)) tails.end(job.job_id);
    store.put(job);
    changes.tell(job);
    return job;
  };

  const known = (job_id: string): Job => {
    const job = store.get(job_id);
    if (!job) throw new ImprintError("JOB_NOT_FOUND", `There is no job ${job_id}.`);
    return job;
  };

  const apply = (job_id: string, change: JobChange): Job => save(transition(known(job_id), change));

  const onTaskEvent = (job_id: string, event: TaskEvent): void => {
    if (!running.has(job_id)) return; // a runner that talks on after the outcome
    if (event.type === "log") {
      tails.append(job_id, event.text);
      logText.tell(job_id, event.text);
    } else if (event.type === "checkpoint") apply(job_id, { type: "checkpoint", at: now(), step: event.step });
    else apply(job_id, event);
  };

  const run = async (job_id: string): Promise<void> => {
    const stop = new AbortController();
    running.set(job_id, stop);
    const disarm = clock.after(limits.maxJobMs, () => stop.abort(tooLong(limits.maxJobMs)));
    apply(job_id, { type: "start", at: now() });
    const end = await runJob({
      kind: kinds[known(job_id).kind],
      job: () => known(job_id),
      ...(left.has(job_id)
        ? { task: left.get(job_id), runner: adopting(runner) }
        : { runner: remembering(runner, known(job_id)) }),
      signal: stop.signal,
      onEvent: (event) => onTaskEvent(job_id, event),
      onRegistering: () => apply(job_id, { type: "phase", phase: "registering" }),
      log,
    });
    disarm();
    running.delete(job_id);
    left.delete(job_id);
    const at = now();
    if (end.type === "completed") apply(job_id, { type: "complete", at, warnings: end.warnings, ...end.made });
    else if (known(job_id).cancel_requested) apply(job_id, { type: "confirm_cancel", at });
    else {
      const { reason } = stop.signal;
      const error = reason instanceof ImprintError ? reason : end.error;
      apply(job_id, { type: "fail", at, error: error.toDetail(), proof: error.proof });
    }
  };

  /** One that was to be followed again, and is under way still. */
  const stopUnfollowed = async (job: Job): Promise<void> => {
    try {
      await runner.release([job.job_id]);
      await kinds[job.kind].discard(job, { registered: false });
    } catch (err) {
      log.error({ err, job_id: job.job_id }, "a job of an earlier run could not be stopped");
    }
  };

  const sameUnderWay = ({ kind, request }: Submission): Job | undefined => {
    const made = kinds[kind].makes?.(request);
    if (made === undefined) return undefined;
    const isSame = (job: Job): boolean =>
      job.kind === kind && !isTerminal(job.status) && !job.cancel_requested && kinds[kind].makes?.(job.request) === made;
    return store.newestFirst().find(isSame);
  };

  const besideOf = (job_id: string): string | null => {
    const { kind } = known(job_id);
    return kinds[kind].isBeside ? kind : null;
  };
  const scheduler = createScheduler({ slots: limits.slots, besideOf, clock, run });

  return {
    submit(submission) {
      if (closing) throw shuttingDown("The service is shutting down and takes no more jobs.");
      const same = sameUnderWay(submission);
      if (same) return same;
      if (scheduler.waiting() >= limits.maxQueued)
        throw new ImprintError("QUEUE_FULL", `${scheduler.waiting()} jobs are waiting, which is the limit.`);
      const reserved_adapter_id = kinds[submission.kind].reserves(submission.request);
      if (reserved_adapter_id !== null && store.isReserved(reserved_adapter_id))
        throw new ImprintError("ADAPTER_ID_TAKEN", `Another job will make the adapter ${reserved_adapter_id}.`);
      const job = createJob({ ...submission, reserved_adapter_id, job_id: newId(), created_at: now() });
      scheduler.enqueue(job.job_id);
      return save(job);
    },
    adopt({ job_id, task, memo }) {
      if (closing || memo === null || store.get(job_id)) return null;
      const { kind, request, created_at } = memo;
      const reserved_adapter_id = kinds[kind].reserves(request);
      if (reserved_adapter_id !== null && store.isReserved(reserved_adapter_id)) return null;
      left.set(job_id, task);
      scheduler.enqueue(job_id);
      return save(createJob({ kind, request, job_id, created_at, reserved_adapter_id }));
    },
    get: store.get,
    list: (query) => pageOf(store.newestFirst(), query),
    cancel(job_id) {
      const job = known(job_id);
      if (isTerminal(job.status)) throw new ImprintError("JOB_FINISHED", `The job ${job_id} is ${job.status} already.`);
      if (job.cancel_requested) return job;
      scheduler.remove(job_id);
      const next = apply(job_id, { type: "request_cancel", at: now() });
      running.get(job_id)?.abort(new Error("the job was cancelled"));
      if (isTerminal(next.status) && left.delete(job_id)) void stopUnfollowed(next);
      return next;
    },
    isReserved: store.isReserved,
    queuePosition: scheduler.position,
    subscribe: changes.add,
    subscribeToLog: logText.add,
    log: tails.get,
    counts: store.counts,
    async close(graceMs) {
      closing = true;
      const unstarted = scheduler.clear().map(known);
      for (const { job_id } of unstarted) {
        const error = shuttingDown("The service shut down before the job started.").toDetail();
        apply(job_id, { type: "fail", at: now(), error, proof: null });
      }
      const stopAll = (): void => {
        for (const stop of running.values()) stop.abort(shuttingDown("The service shut down while the job ran."));
      };
      const disarm = clock.after(graceMs, stopAll);
      // Those that a runner has under way are found there again.
      const kept = unstarted.filter(({ job_id }) => !left.has(job_id));
      await keepUnstarted(kept).catch((err: unknown) => log.error({ err }, "what waiting jobs were asked could not be kept"));
      if (kept.length > 0)
        log.warn({ jobs: kept.length }, "jobs that waited are kept: imprint jobs --resubmit starts them again");
      await scheduler.idle();
      disarm();
    },
  };
}

function shuttingDown(message: string): ImprintError {
  return new ImprintError("SHUTTING_DOWN", message);
}

function tooLong(maxJobMs: number): ImprintError {
  return new ImprintError("JOB_TIMEOUT", `The job ran longer than ${maxJobMs / 1000} seconds and was stopped.`);
}
