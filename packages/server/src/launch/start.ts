import type { StartResponse } from "@imprint/contracts";
import type { FastifyRequest } from "fastify";
import { ProblemError } from "../common/problem.js";
import type { Jobs } from "../jobs/jobs.js";
import type { Kind } from "../jobs/kind.js";
import type { Kinds, Start } from "../kinds/index.js";
import { isAdapterIdTaken } from "../registry/adapters.js";
import type { Transaction } from "../storage/schema.js";
import type { Call, Idempotency } from "./idempotency.js";

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

/** A job to start, for a request or for the service itself. */
export interface Launch {
  readonly start: Start;
  /** What the Idempotency-Key of a request stands for; null without one. */
  readonly call: Call | null;
  /** Runs work in the starter's transaction, or in one of its own. */
  readonly transact: <T>(work: (db: Transaction) => Promise<T>) => Promise<T>;
}

/**
 * Queues a job, and answers its id at once: what goes wrong with session and training fails the job, not the call.
 * @throws ImprintError ADAPTER_ID_TAKEN, IDEMPOTENCY_CONFLICT, QUEUE_FULL or SHUTTING_DOWN; nothing is queued then
 */
export const launch = async ({ start, call, transact }: Launch, { jobs, kinds, idempotency }: LaunchDeps): Promise<string> => {
  const earlier = call && idempotency.find(call);
  if (earlier) return earlier;

  const kind: Kind = kinds[start.kind];
  const adapter_id = kind.reserves(start.request);
  const taken = adapter_id !== null && (await transact((db) => isAdapterIdTaken(db, adapter_id)));
  // From here on nothing waits: of two calls with one key or one adapter_id, the second sees the first.
  const meanwhile = call && idempotency.find(call);
  if (meanwhile) return meanwhile;
  if (taken || (adapter_id !== null && jobs.isReserved(adapter_id)))
    throw new ProblemError(
      "ADAPTER_ID_TAKEN",
      `The adapter_id ${adapter_id} is taken: choose another, or leave adapter_id out.`,
      {
        errors: [{ path: "/adapter_id", message: "is taken" }],
      },
    );
  const { job_id } = jobs.submit(start);
  if (call) idempotency.remember(call, job_id);
  return job_id;
};

/** Starts the job that a request asks for. */
export const startJob = async (request: FastifyRequest, start: Start, deps: LaunchDeps): Promise<StartResponse> => {
  const key = keyOf(request);
  const call = key === null ? null : { key, path: request.url, body: request.body };
  const job_id = await launch({ start, call, transact: (work) => request.transact(work) }, deps);
  return { job_id, status: "queued" };
};
