import { JobId, JobKind, WorkerRequest, type WorkerTask } from "@imprint/contracts";
import { Type } from "typebox";
import { matches } from "../../common/matches.js";
import type { JobMemo } from "../runner.js";
import { type Attempt, attemptOf } from "./attempt.js";
import type { SharedStorage } from "./storage.js";

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
