import type { WorkerTask } from "@imprint/contracts";
import { asImprintError, ImprintError } from "../../common/error.js";
import { createTaskEvents } from "../local/run-task.js";
import { failedAtOnce, type JobHandle, type JobMemo, type Outcome, type Runner, type TaskEvent } from "../runner.js";
import {
  type Attempt,
  attemptOf,
  attemptOfKept,
  type KeptJob,
  keptJob,
  keptJobs,
  newToken,
  prefixOf,
  readEnd,
  writeStop,
} from "./attempt.js";
import { type Following, followAttempt } from "./follow-attempt.js";
import type { RayRunnerOptions } from "./options.js";
import { prepareAttempt } from "./prepare-attempt.js";
import { openRemote } from "./remote-process.js";
import { resultsOf } from "./ship-task.js";
import { fetchCheckpoint } from "./storage.js";

const TERMINAL = ["STOPPED", "SUCCEEDED", "FAILED"];

/**
 * Stops what an earlier service left running, and brings its checkpoint here, to resume or salvage. What had finished stays for a
 * while, for a service that adopts.
 */
const releaseJob = async (kept: KeptJob, options: RayRunnerOptions): Promise<void> => {
  const { api, storage, places, python: program, limits, pollMs, askMs, cancelGraceMs, keepMs, clock, log } = options;
  const { store } = storage;
  const attempt = attemptOfKept(storage, kept);
  const record = await readEnd(store, attempt.folder, attempt);
  if (record !== null && record !== "foreign" && record.how.type === "settled" && record.files.length > 0) {
    const written = (await store.modified(`${attempt.folder}/end.json`)) ?? clock.now();
    if (clock.now() - written > keepMs) await store.remove(storage.jobFolder(kept.job_id));
    else log.warn({ job_id: kept.job_id }, "a job finished while no service ran: --adopt registers what it made");
    return;
  }
  const remote = openRemote({ attempt, program, store, api, adopted: true, limits, pollMs, askMs, clock, log });
  for (const stream of [remote.stdout, remote.stderr]) stream?.resume();
  remote.kill("SIGTERM");
  const disarm = clock.after(cancelGraceMs, () => remote.kill("SIGKILL"));
  await remote.end;
  disarm();
  const { checkpoint } = resultsOf(kept.task, places);
  if (checkpoint !== null) await fetchCheckpoint(store, `${attempt.folder}/checkpoint`, checkpoint);
  await store.remove(storage.jobFolder(kept.job_id));
  log.warn({ job_id: kept.job_id }, "a job that an earlier service left on the cluster was stopped");
};

/** Stops what runs under our name and is no job of the storage. Rejects where the storage does not answer, and stops nothing then. */
const stopLeftovers = async ({ api, storage, log }: RayRunnerOptions): Promise<void> => {
  const reply = await api.list();
  if (reply.type !== "ok") return;
  // Asked afterwards: what this service submits meanwhile is kept before it is listed.
  const kept = await keptJobs(storage);
  const known = new Set(kept.map((one) => attemptOfKept(storage, one).submission_id));
  for (const { submission_id, status } of reply.value) {
    if (!submission_id?.startsWith(prefixOf(storage.instance)) || known.has(submission_id) || TERMINAL.includes(status)) continue;
    await api.stop(submission_id);
    log.warn({ submission_id }, "a job that nobody follows was stopped on the cluster");
  }
};

const CLOSE_MS = 3_000; // beyond the grace, to be told that a job is gone

const closed = (): ImprintError => new ImprintError("SHUTTING_DOWN", "The service shut down while the job was on the cluster.");

/** A job with the attempt that runs now. */
interface Running {
  readonly handle: JobHandle;
  close(graceMs: number): Promise<unknown>;
}

interface Work {
  readonly task: WorkerTask;
  readonly memo: JobMemo | null;
  /** One that is there already, with the task as the cluster got it. */
  readonly adopted: { readonly attempt: Attempt; readonly task: WorkerTask } | null;
  readonly onEvent: (event: TaskEvent) => void;
}

/** Steps and plans grow over all attempts at a job: the next one repeats what the one before told. */
const tellOnce = (onEvent: (event: TaskEvent) => void): ((event: TaskEvent) => void) => {
  const report = createTaskEvents({ onReport: onEvent, onEnd: () => {} });
  return (event) => (event.type === "log" ? onEvent(event) : void report(event));
};

/** Runs jobs on a Ray cluster, through its Jobs API and a storage that both sides see: docs/ray.md. */
export const createRayRunner = (options: RayRunnerOptions): Runner => {
  const { api, storage, places, attempts, leave, clock, log } = options;
  const { store } = storage;
  const running = new Map<string, Running>();
  let left: readonly KeptJob[] = []; // by an earlier service, as it was asked for last
  let closing = false;

  const begin = ({ task, memo, adopted, onEvent }: Work): Running => {
    const { job_id } = task;
    const results = resultsOfOrNull(task);
    const stop = new AbortController();
    const tell = tellOnce(onEvent);
    let following: Following | null = null;
    let shut: { readonly graceMs: number } | null = null;

    const attemptAt = async (at: number): Promise<{ readonly attempt: Attempt; readonly task: WorkerTask }> => {
      if (adopted !== null && at === 1) return adopted;
      const attempt = attemptOf({ storage, job_id, token: newToken() });
      return { attempt, task: await prepareAttempt({ attempt, task, memo, signal: stop.signal }, options) };
    };

    const tidy = async ({ folder }: Attempt): Promise<void> => {
      if (results?.checkpoint) await fetchCheckpoint(store, `${folder}/checkpoint`, results.checkpoint);
    };

    const run = async (): Promise<Outcome> => {
      for (let at = 1; ; at += 1) {
        const { attempt, task: there } = await attemptAt(at);
        following = followAttempt(
          {
            attempt,
            task: there,
            output: results?.output ?? "",
            adopted: adopted !== null && at === 1,
            onEvent: tell,
            signal: stop.signal,
          },
          options,
        );
        if (shut) endOrLeave(following, shut.graceMs);
        const ending = await following.ending;
        following = null;
        if (ending.type === "left") return { type: "failed", error: closed().toDetail() };
        await tidy(attempt).catch((err: unknown) =>
          log.warn({ job_id, err }, "a checkpoint could not be brought back from the cluster"),
        );
        if (ending.type === "over") return ending.outcome;
        await writeStop(store, attempt.folder, "kill").catch(() => {}); // whatever is left of it stops by itself
        void api.stop(attempt.submission_id);
        if (stop.signal.aborted) return { type: "cancelled" };
        if (at >= attempts || adopted !== null || shut) return { type: "failed", error: ending.error.toDetail() };
        log.warn({ job_id, why: ending.error.message }, "the cluster lost a job; it is tried again");
        tell({ type: "log", job_id, text: `${ending.error.message} It is tried again.\n` });
      }
    };

    const endOrLeave = (one: Following, graceMs: number): void => {
      if (!leave) {
        one.end(closed(), graceMs);
        clock.after(graceMs + CLOSE_MS, one.leave);
      } else one.leave();
    };

    const outcome = run()
      .catch((thrown: unknown): Outcome => {
        if (shut) return { type: "failed", error: closed().toDetail() };
        return stop.signal.aborted ? { type: "cancelled" } : { type: "failed", error: asImprintError(thrown).toDetail() };
      })
      .then(async (found) => {
        if (!(leave && shut)) await store.remove(storage.jobFolder(job_id)).catch(() => {});
        running.delete(job_id);
        return found;
      });

    const close = (graceMs: number): Promise<unknown> => {
      shut = { graceMs };
      if (following) endOrLeave(following, graceMs);
      else stop.abort(closed());
      return outcome;
    };

    return {
      close,
      handle: {
        cancel: (reason) => {
          const code = reason instanceof ImprintError ? reason.code : null;
          if (leave && code === "SHUTTING_DOWN") void close(0);
          else stop.abort();
        },
        outcome,
      },
    };
  };

  const resultsOfOrNull = (task: WorkerTask): ReturnType<typeof resultsOf> | null => {
    try {
      return resultsOf(task, places);
    } catch {
      return null; // a base model that is not there: the attempt says so
    }
  };

  const track = (work: Work): JobHandle => {
    const one = begin(work);
    running.set(work.task.job_id, one);
    return one.handle;
  };

  return {
    start(task, onEvent, memo) {
      if (closing) return failedAtOnce(closed());
      if (running.has(task.job_id))
        return failedAtOnce(new ImprintError("TRAINER_ERROR", `The job ${task.job_id} is under way already.`));
      return track({ task, memo: memo ?? null, adopted: null, onEvent });
    },
    async adopt(job_id, onEvent) {
      const kept = left.find((job) => job.job_id === job_id) ?? (await keptJob(storage, job_id));
      if (kept === null || closing || running.has(job_id)) return null;
      return track({
        task: kept.task,
        memo: kept.memo,
        adopted: { attempt: attemptOfKept(storage, kept), task: kept.there },
        onEvent,
      });
    },
    async leftBehind() {
      left = await keptJobs(storage);
      return left;
    },
    async release(job_ids) {
      await stopLeftovers(options);
      for (const one of (await keptJobs(storage)).filter(({ job_id }) => job_ids.includes(job_id)))
        await releaseJob(one, options);
    },
    async close(graceMs) {
      closing = true;
      await Promise.all([...running.values()].map((one) => one.close(graceMs)));
    },
  };
};
