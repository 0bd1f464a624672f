import { ERRORS, type Holdout, RESUME_FIELDS, type StartResponse, type TrainLoraRequest } from "@imprint/contracts";
import type { FastifyRequest } from "fastify";
import { fieldRefused, ImprintError, ProblemError } from "../common/error.js";
import type { Jobs } from "../jobs/jobs.js";
import type { Kind } from "../jobs/kind.js";
import type { KindDeps } from "../kinds/deps.js";
import type { Kinds, Start } from "../kinds/index.js";
import { requireCheckpoint } from "../kinds/lora/checkpoints/folder.js";
import { type LoraJobRequest, renamed } from "../kinds/resolve.js";
import { type BaseModel, type BaseModels, requestedBaseModel } from "../models/base-model.js";
import { isAdapterIdTaken } from "../registry/adapters.js";
import type { Transaction } from "../storage/schema.js";
import type { Call, Idempotency } from "./idempotency.js";

// What the schemas of trainings let pass, because it takes two fields to see it.

const holdoutFault = (held: readonly string[], sessionIds: readonly string[]): string | null => {
  if (held.some((id) => !sessionIds.includes(id))) return "must name sessions of the training: add them to session_ids";
  return sessionIds.some((id) => !held.includes(id)) ? null : "leaves no session to train on: name fewer";
};

/** Sessions that are held out are some of the training's, and not all. */
export const checkHoldout = (holdout: Holdout | undefined, sessionIds: readonly string[]): void => {
  const message = Array.isArray(holdout) ? holdoutFault(holdout, sessionIds) : null;
  if (message !== null) throw fieldRefused("holdout", message);
};

/** Numbers of turns mean nothing over several sessions. */
export const checkTurns = ({ train_on, session_ids = [] }: Pick<TrainLoraRequest, "train_on" | "session_ids">): void => {
  if (typeof train_on !== "object" || session_ids.length < 2) return;
  throw fieldRefused(
    "train_on",
    "takes turns of one session only: train on one session, or choose by all, successful_steps or final_answer",
  );
};

/** How many windows there are is known only once the sessions were read. */
export const checkWindow = (window: number | null, windows: number): void => {
  if (window === null || window <= windows) return;
  throw fieldRefused("window", `must be at most ${windows}, the number of windows that these sessions make`);
};

/** Does what a field asks for; what is refused is refused by the name of the field. */
export const ofField = <T>(field: string, act: () => T): T => {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof ImprintError)) throw error;
    const { code, message, hint } = error;
    throw new ProblemError(code, `Field ${field}: ${message} ${hint}`, { errors: [{ path: `/${field}`, message }] });
  }
};

/** The base model of a request. Refused before anything starts. */
export const requireBaseModel = (given: string | undefined, models: BaseModels): BaseModel =>
  ofField("base_model", () => requestedBaseModel(given, models));

/** A start call with its base model decided: a folder goes by its name from here on. */
export const withBaseModel = <T extends { readonly base_model?: string }>(body: T, models: BaseModels): T => ({
  ...body,
  base_model: requireBaseModel(body.base_model, models).name,
});

const MESSAGE = "cannot stand beside resume_from: a resumed training keeps every number of its request";

/** Beside resume_from, anything that would change the numbers is refused by name. */
export const checkResumeFields = (body: object): void => {
  const others = Object.keys(body).filter((field) => !(RESUME_FIELDS as readonly string[]).includes(field));
  if (others.length === 0) return;
  const errors = others.map((field) => ({ path: `/${field}`, message: MESSAGE }));
  throw new ProblemError("VALIDATION_FAILED", `Field ${others.join(", ")} ${MESSAGE}.`, { errors });
};

/** The request of the job that is resumed, under the names that this one asks for. */
export const resolveResume = async (
  body: TrainLoraRequest & { readonly resume_from: string },
  { jobs, deps }: { readonly jobs: Jobs; readonly deps: KindDeps },
): Promise<LoraJobRequest> => {
  checkResumeFields(body);
  const request = await requireCheckpoint(body.resume_from, { jobs, deps });
  requireBaseModel(request.base_model, deps.models);
  return { ...renamed(request, body), resume_from: body.resume_from };
};

/** What a start works with. */
export interface LaunchDeps {
  readonly jobs: Jobs;
  readonly kinds: Kinds;
  readonly idempotency: Idempotency;
}

const KEY = /^[\x21-\x7e]{1,255}$/;

/** What the Idempotency-Key of a request stands for; null without one. */
export const callOf = ({ headers, url: path, body }: FastifyRequest): Call | null => {
  const key = headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key === "string" && KEY.test(key)) return { key, path, body };
  throw new ProblemError("VALIDATION_FAILED", "Idempotency-Key must be 1 to 255 visible ASCII characters.", {
    errors: [{ path: "/headers/idempotency-key", message: "must be 1 to 255 visible ASCII characters" }],
  });
};

/** A job to start, for a request or for the service itself. */
export interface Launch {
  readonly start: Start;
  readonly call: Call | null;
  /** Runs work in the starter's transaction, or in one of its own. */
  readonly transact: <T>(work: (db: Transaction) => Promise<T>) => Promise<T>;
}

/**
 * Queues a job, and answers its id at once: what goes wrong with session and training fails the job, not the call.
 * @throws ImprintError ADAPTER_ID_TAKEN, IDEMPOTENCY_CONFLICT, QUEUE_FULL or SHUTTING_DOWN; nothing is queued then
 */
export const launch = ({ start, call, transact }: Launch, { jobs, kinds, idempotency }: LaunchDeps): Promise<string> =>
  idempotency.once(call, async () => {
    const kind: Kind = kinds[start.kind];
    const adapter_id = kind.reserves(start.request);
    const taken = adapter_id !== null && (await transact((db) => isAdapterIdTaken(db, adapter_id)));
    // From here on nothing waits: of two calls with one adapter_id, the second sees the first.
    if (taken || (adapter_id !== null && jobs.isReserved(adapter_id)))
      throw new ProblemError("ADAPTER_ID_TAKEN", `The adapter_id ${adapter_id} is taken. ${ERRORS.ADAPTER_ID_TAKEN.hint}`, {
        errors: [{ path: "/adapter_id", message: "is taken" }],
      });
    return jobs.submit(start).job_id;
  });

/** Starts the job that a request asks for. */
export const startJob = async (request: FastifyRequest, start: Start, deps: LaunchDeps): Promise<StartResponse> => {
  const job_id = await launch({ start, call: callOf(request), transact: (work) => request.transact(work) }, deps);
  return { job_id, status: "queued" };
};
