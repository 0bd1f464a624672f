import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { TaskResult, WorkerTask } from "@imprint/contracts";
import { asImprintError, ImprintError } from "../../common/error.js";
import { startWorker } from "../local/worker.js";
import type { Outcome, TaskEvent } from "../runner.js";
import type { Attempt, EndRecord } from "./attempt.js";
import type { RayRunnerOptions } from "./options.js";
import { type AttemptEnd, openRemote } from "./remote-process.js";
import { storageError, whileUnreachable } from "./storage-error.js";
import type { Store } from "./stores/store.js";

/** How an attempt ended for its job: `again` where the cluster lost it, `left` where it runs on without this service. */
type Ending =
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

const NEVER_MS = 2 ** 50;

const failed = (error: ImprintError): Ending => ({ type: "over", outcome: { type: "failed", error: error.toDetail() } });

const refusedEnd = (attemptEnd: AttemptEnd, full: string): ImprintError | null => {
  if (attemptEnd.type === "lost") return attemptEnd.error;
  if (attemptEnd.type !== "ended") return null;
  const { how, because } = attemptEnd.record;
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
  const { api, storage, limits, pollMs, askMs, cancelGraceMs, clock, log, python: program } = options;
  const { store } = storage;
  const where = store.carried === null ? "The shared storage" : "The disk of ray_scratch on the node";
  const remote = openRemote({ attempt, program, store, api, adopted, limits, pollMs, askMs, clock, log });
  // What takes too long is for the engine and the files to say.
  const bounds = { startTimeoutMs: NEVER_MS, heartbeatTimeoutMs: NEVER_MS, cancelGraceMs };
  const worker = startWorker(remote, { ...bounds, clock, log });

  const end = (reason: ImprintError, graceMs: number): void => void worker.terminate(reason, graceMs);

  const conclude = async (): Promise<Ending> => {
    const outcome = await worker.run(task, onEvent, signal);
    if (outcome.type !== "done") end(new ImprintError("TRAINER_ERROR", "The job is over."), cancelGraceMs);
    const attemptEnd = await remote.end;
    if (attemptEnd.type === "detached") return { type: "left" };
    if (outcome.type === "cancelled") return { type: "over", outcome };
    if (attemptEnd.type === "lost" && attemptEnd.again) return { type: "again", error: attemptEnd.error };
    const why = outcome.type === "done" || attemptEnd.type === "lost" ? refusedEnd(attemptEnd, where) : null;
    if (why) return failed(why);
    if (outcome.type !== "done") {
      const cause = attemptEnd.type === "ended" && attemptEnd.record.because !== null ? refusedEnd(attemptEnd, where) : null;
      return cause ? failed(cause) : { type: "over", outcome };
    }
    if (attemptEnd.type !== "ended")
      return failed(new ImprintError("WORKER_NO_RESULT", "The job was stopped before its end was written."));
    const { how } = attemptEnd.record;
    if (how.type === "exited" && how.code !== 0)
      return failed(new ImprintError("WORKER_CRASHED", `The trainer ended with exit code ${how.code} right after its result.`));
    const { result } = outcome;
    const { record } = attemptEnd;
    const from = `${attempt.folder}/output`;
    await whileUnreachable(() => collectFiles({ store, from, to: output, result, record }), { ...options, signal });
    return { type: "over", outcome };
  };

  return { ending: conclude().catch((error: unknown) => failed(asImprintError(storageError(error)))), leave: remote.detach, end };
};
const refused = (name: string, what: string): ImprintError =>
  new ImprintError("ADAPTER_INVALID", `${name} ${what}: it was changed after the trainer had written it.`);

/** Copies one file, hashed on the way. */
const take = async (from: Readable, to: string): Promise<{ readonly size: number; readonly sha256: string }> => {
  const hash = createHash("sha256");
  let size = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      size += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(from, measure, createWriteStream(to, { mode: 0o600 }));
  return { size, sha256: hash.digest("hex") };
};

/**
 * Brings the files of a result here, each as the trainer hashed it, and as the supervisor hashed it again when the worker was gone.
 * @throws ImprintError ADAPTER_INVALID
 */
const collectFiles = async ({
  store,
  from,
  to,
  result,
  record,
}: {
  readonly store: Store;
  /** The name of a folder there. */
  readonly from: string;
  readonly to: string;
  readonly result: TaskResult;
  readonly record: EndRecord;
}): Promise<void> => {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const { name, size, sha256 } of result.files) {
    const listed = record.files.find((file) => file.name === name);
    if (!listed) throw refused(name, "is not there");
    const content = await store.open(`${from}/${name}`);
    if (content === null) throw refused(name, "is no regular file");
    const taken = await take(content, join(to, name));
    if ([listed, taken].some((one) => one.size !== size || one.sha256 !== sha256)) {
      await rm(join(to, name), { force: true });
      throw refused(name, "is not what the trainer hashed");
    }
  }
};
