import { spawn } from "node:child_process";
import type { WorkerTask } from "@imprint/contracts";
import { asImprintError, ImprintError } from "../../common/error.js";
import { createDecoder } from "../local/decode-event.js";
import type { Spawn } from "../local/spawn.js";
import { startWorker } from "../local/worker.js";
import type { Outcome, TaskEvent } from "../runner.js";
import type { Attempt } from "./attempt.js";
import { collectFiles } from "./collect.js";
import type { RayRunnerOptions } from "./options.js";
import { type Fate, openRemote } from "./remote-process.js";
import { storageError, whileUnreachable } from "./storage-error.js";

/** How an attempt ended for its job: `again` where the cluster lost it, `left` where it runs on without this service. */
export type Ending =
  | { readonly type: "over"; readonly outcome: Outcome }
  | { readonly type: "again"; readonly error: ImprintError }
  | { readonly type: "left" };

export interface Following {
  /** Never rejects. */
  readonly ending: Promise<Ending>;
  /** Lets it run, and follows it no more. */
  leave(): void;
  /** Stops it: its outcome is `reason`. */
  end(reason: ImprintError, graceMs: number): void;
}

interface FollowOptions {
  readonly attempt: Attempt;
  /** As the cluster got it. */
  readonly task: WorkerTask;
  /** Where this machine wants the files. */
  readonly output: string;
  readonly adopted: boolean;
  readonly onEvent: (event: TaskEvent) => void;
  /** Aborts when the job is cancelled. */
  readonly signal: AbortSignal;
}

const NEVER_MS = 2 ** 50; // what takes too long is for judge.ts to say
const SETTLE_MS = 50;
const MAX_LINE_BYTES = 32 * 1024 * 1024;

const failed = (error: ImprintError): Ending => ({ type: "over", outcome: { type: "failed", error: error.toDetail() } });

const refusedEnd = (fate: Fate, full: string): ImprintError | null => {
  if (fate.type === "lost") return fate.error;
  if (fate.type !== "ended") return null;
  const { how, because } = fate.record;
  if (because === "disk_full")
    return new ImprintError("DISK_FULL", `${full} filled up while the trainer wrote to it.`, {
      hint: "Free space there, and try again.",
    });
  if (because === "not_ready")
    return new ImprintError("WORKER_START_FAILED", "The trainer on the cluster was not ready in time.", {
      hint: "Look at the machine: docs/ray.md says what a node needs.",
    });
  return how.type === "exited" && how.signal === "SIGKILL" ? killedThere() : null;
};

const killedThere = (): ImprintError =>
  new ImprintError("WORKER_CRASHED", "The trainer on the cluster was killed (SIGKILL), as a system does when memory runs out.");

/** One attempt from its submission to its end: the protocol is the local worker's, its pipes are files. */
export const followAttempt = (
  { attempt, task, output, adopted, onEvent, signal }: FollowOptions,
  options: RayRunnerOptions,
): Following => {
  const { api, storage, limits, pollMs, askMs, cancelGraceMs, clock, log, python } = options;
  const { store } = storage;
  const where = store.carried === null ? "The shared storage" : "The disk of ray_scratch on the node";
  const remote = openRemote({ attempt, store, api, adopted, limits, pollMs, askMs, clock, log });
  const worker = startWorker({
    file: python,
    args: [],
    env: {},
    startTimeoutMs: NEVER_MS,
    heartbeatTimeoutMs: NEVER_MS,
    cancelGraceMs,
    settleMs: SETTLE_MS,
    maxLineBytes: MAX_LINE_BYTES,
    decode: createDecoder(),
    spawn: spawn as Spawn,
    process: () => remote,
    killOnExit: { add: () => () => {} },
    clock,
    log,
  });

  const end = (reason: ImprintError, graceMs: number): void => void worker.terminate(reason, graceMs);

  const conclude = async (): Promise<Ending> => {
    const outcome = await worker.run(task, onEvent, signal);
    if (outcome.type !== "done") end(new ImprintError("TRAINER_ERROR", "The job is over."), cancelGraceMs);
    const fate = await remote.fate;
    if (fate.type === "detached") return { type: "left" };
    if (outcome.type === "cancelled") return { type: "over", outcome };
    if (fate.type === "lost" && fate.again) return { type: "again", error: fate.error };
    const why = outcome.type === "done" || fate.type === "lost" ? refusedEnd(fate, where) : null;
    if (why) return failed(why);
    if (outcome.type !== "done") {
      const cause = fate.type === "ended" && fate.record.because !== null ? refusedEnd(fate, where) : null;
      return cause ? failed(cause) : { type: "over", outcome };
    }
    if (fate.type !== "ended")
      return failed(new ImprintError("WORKER_NO_RESULT", "The job was stopped before its end was written."));
    const { how } = fate.record;
    if (how.type === "exited" && how.code !== 0)
      return failed(new ImprintError("WORKER_CRASHED", `The trainer ended with exit code ${how.code} right after its result.`));
    const { result } = outcome;
    const { record } = fate;
    const from = `${attempt.folder}/output`;
    await whileUnreachable(() => collectFiles({ store, from, to: output, result, record }), { ...options, signal });
    return { type: "over", outcome };
  };

  return {
    ending: conclude().catch((error: unknown) => failed(asImprintError(storageError(error)))),
    leave: remote.detach,
    end,
  };
};
