import { randomBytes } from "node:crypto";
import { JobId, JobKind, Strict, WorkerRequest, type WorkerTask } from "@imprint/contracts";
import { matches } from "@imprint/contracts/fields";
import { type Static, Type } from "typebox";
import type { JobMemo } from "../runner.js";
import type { SharedStorage } from "./storage.js";
import type { Store } from "./stores/store.js";

/** One try at a job: a folder on the shared storage, fenced by its token. Nobody reads the folder of another try. */
export interface Attempt {
  readonly job_id: string;
  readonly token: string;
  readonly submission_id: string;
  /** Its name on the shared storage. */
  readonly folder: string;
}

export interface AttemptOrder {
  /** The worker's program and arguments, on the cluster. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly graceMs: number;
  readonly startMs: number;
  /** What a node fetches where it does not see the store: what many jobs read, and how. */
  readonly carry: { readonly needs: readonly string[]; readonly pollMs: number; readonly patienceMs: number } | null;
}

/** What our jobs are called on the engine, so that those of others are left alone. */
export const prefixOf = (instance: string): string => `imprint-${instance}-`;

const ID_CHARACTERS = 12; // of a token, in an id that people read

export const attemptOf = ({
  storage: { instance, jobFolder },
  job_id,
  token,
}: {
  readonly storage: Pick<SharedStorage, "instance" | "jobFolder">;
  readonly job_id: string;
  readonly token: string;
}): Attempt => ({
  job_id,
  token,
  submission_id: `${prefixOf(instance)}${job_id}-${token.slice(0, ID_CHARACTERS)}`,
  folder: `${jobFolder(job_id)}/${token}`,
});

export const newToken = (): string => randomBytes(16).toString("hex");

export const makeAttemptFolder = async (store: Store, { folder }: Attempt): Promise<void> => {
  for (const name of ["requests", "output", "checkpoint"]) await store.makeFolder(`${folder}/${name}`);
};

/** The order is the last file of an attempt's preparation. */
export const writeOrder = (store: Store, { folder, token, job_id }: Attempt, order: AttemptOrder): Promise<void> => {
  const { command, env, graceMs, startMs, carry } = order;
  const times = { grace_seconds: graceMs / 1000, start_seconds: startMs / 1000 };
  const carried = carry && { needs: carry.needs, poll_seconds: carry.pollMs / 1000, patience_seconds: carry.patienceMs / 1000 };
  return store.put(
    `${folder}/attempt.json`,
    JSON.stringify({ token, job_id, command, env, ...times, ...(carried && { carry: carried }) }),
  );
};

const DIGITS = 4;

export const writeRequest = (store: Store, folder: string, at: number, line: string): Promise<void> =>
  store.put(`${folder}/requests/${String(at).padStart(DIGITS, "0")}.json`, line);

/** Not synced: it is a wish, and the folder may be gone. */
export const writeStop = (store: Store, folder: string, how: "term" | "kill"): Promise<void> =>
  store.hint(`${folder}/stop.json`, JSON.stringify({ how }));
const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const Bytes = Type.Integer({ minimum: 0 });

/** How an attempt ended: the last file that its supervisor writes (imprint_node), and the only truth about it. */
export const EndRecord = Strict({
  token: Type.String(),
  job_id: Type.String(),
  how: Type.Union([
    /** It was told to stop before its worker was started. */
    Strict({ type: Type.Literal("never") }),
    Strict({ type: Type.Literal("not_started"), code: Type.String() }),
    /** After its task had ended the worker was told to end. */
    Strict({ type: Type.Literal("settled") }),
    Strict({
      type: Type.Literal("exited"),
      code: Type.Union([Type.Integer(), Type.Null()]),
      signal: Type.Union([Type.String({ pattern: "^SIG[A-Z0-9+-]+$" }), Type.Null()]),
    }),
  ]),
  because: Type.Union([Type.Literal("not_ready"), Type.Literal("disk_full"), Type.Null()]),
  events: Strict({ bytes: Bytes, sha256: Sha256 }),
  log_bytes: Bytes,
  files: Type.Array(Strict({ name: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$" }), size: Bytes, sha256: Sha256 })),
});
export type EndRecord = Static<typeof EndRecord>;
const MAX_BYTES = 1024 * 1024;

/** Null where it is not there yet; "foreign" for one that this attempt's supervisor did not write. */
export const readEnd = async (
  store: Store,
  folder: string,
  { token, job_id }: { readonly token: string; readonly job_id: string },
): Promise<EndRecord | "foreign" | null> => {
  const text = await store.read(`${folder}/end.json`);
  if (text === null) return null;
  try {
    const value: unknown = text.length > MAX_BYTES ? null : JSON.parse(text);
    return matches(EndRecord, value) && value.token === token && value.job_id === job_id ? value : "foreign";
  } catch {
    return "foreign";
  }
};

/** What is kept of a job on the shared storage, for a service that starts again. */
export interface KeptJob {
  readonly job_id: string;
  readonly task: WorkerTask;
  /** As the cluster got it. */
  readonly there: WorkerTask;
  readonly memo: JobMemo | null;
  readonly token: string;
}

const Kept = Type.Object({
  job_id: JobId,
  task: WorkerRequest,
  there: WorkerRequest,
  memo: Type.Union([
    Type.Null(),
    Type.Object({ kind: JobKind, request: Type.Record(Type.String(), Type.Unknown()), created_at: Type.String() }),
  ]),
  token: Type.String({ pattern: "^[0-9a-f]{32}$" }),
});
const FILE = "job.json";

export const keepJob = (storage: SharedStorage, job: KeptJob): Promise<void> =>
  storage.store.put(`${storage.jobFolder(job.job_id)}/${FILE}`, JSON.stringify(job));

/** Null where there is none, or none that can be read. Rejects where the storage does not answer: nothing can be concluded then. */
export const keptJob = async (storage: SharedStorage, job_id: string): Promise<KeptJob | null> => {
  const text = await storage.store.read(`${storage.jobFolder(job_id)}/${FILE}`);
  try {
    const value: unknown = JSON.parse(text ?? "null");
    return matches(Kept, value) && value.job_id === job_id ? (value as KeptJob) : null;
  } catch {
    return null;
  }
};

/** Every job that is kept. Rejects where the storage does not answer. */
export const keptJobs = async (storage: SharedStorage): Promise<readonly KeptJob[]> => {
  const names = await storage.store.list(storage.jobs);
  const jobs = await Promise.all(names.toSorted().map((name) => keptJob(storage, name)));
  return jobs.filter((job) => job !== null);
};

export const attemptOfKept = (storage: SharedStorage, { job_id, token }: KeptJob): Attempt =>
  attemptOf({ storage, job_id, token });
