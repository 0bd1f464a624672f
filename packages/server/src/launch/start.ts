import type { StartResponse } from "@imprint/contracts";
import type { FastifyRequest } from "fastify";
import { ProblemError } from "../common/problem.js";
import type { Jobs } from "../jobs/jobs.js";
import type { Kind } from "../jobs/kind.js";
import type { Kinds, Start } from "../kinds/index.js";
import { isAdapterIdTaken } from "../registry/adapters.js";
import type { Idempotency } from "./idempotency.js";

/** What a start works with. */
export interface LaunchDeps {
  readonly jobs: Jobs;
  readonly kinds: Kinds;
  readonly idempotency: Idempotency;
}

const KEY = /^[\x21-\x7e]{1,255}$/;

const keyOf = (request: FastifyRequest): string | null => {
  const key = request.headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key === "string" && KEY.test(key)) return key;
  throw new ProblemError("VALIDATION_FAILED", "Idempotency-Key must be 1 to 255 visible ASCII characters.", {
    errors: [{ path: "/headers/idempotency-key", message: "must be 1 to 255 visible ASCII characters" }],
  });
};

const queued = (jobId: string): StartResponse => ({ job_id: jobId, status: "queued" });

/** Queues a job and answers at once: what goes wrong with session and training fails the job, not the call. */
export const startJob = async (
  request: FastifyRequest,
  start: Start,
  { jobs, kinds, idempotency }: LaunchDeps,
): Promise<StartResponse> => {
  const key = keyOf(request);
  const call = key === null ? null : { key, path: request.url, body: request.body };
  const earlier = call && idempotency.find(call);
  if (earlier) return queued(earlier);

  const kind: Kind = kinds[start.kind];
  const adapter_id = kind.reserves(start.request);
  const taken = adapter_id !== null && (await request.transact((db) => isAdapterIdTaken(db, adapter_id)));
  // From here on nothing waits: of two calls with one key or one adapter_id, the second sees the first.
  const meanwhile = call && idempotency.find(call);
  if (meanwhile) return queued(meanwhile);
  if (taken || (adapter_id !== null && jobs.isReserved(adapter_id)))
    throw new ProblemError(
      "ADAPTER_ID_TAKEN",
      `The adapter_id ${adapter_id} is taken: choose another, or leave adapter_id out.`,
      {
        errors: [{ path: "/adapter_id", message: "is taken" }],
      },
    );
  const job = jobs.submit(start);
  if (call) idempotency.remember(call, job.job_id);
  return queued(job.job_id);
};
