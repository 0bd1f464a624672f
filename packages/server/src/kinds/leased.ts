import { ImprintError } from "../common/error.js";
import type { Job } from "../jobs/job.js";
import type { Kind } from "../jobs/kind.js";
import { isAdapterIdTaken } from "../registry/adapters.js";
import { type Leases, leaseOf } from "../storage/leases.js";
import { inTransaction } from "../storage/transaction.js";
import type { Workshop } from "./workshop.js";

/** A lease that a job needs, and what it is refused with where another service has it. */
export type Need = readonly [name: string, refusal: () => ImprintError];

const idTaken = (id: string) => (): ImprintError =>
  new ImprintError("ADAPTER_ID_TAKEN", `Another service makes the adapter ${id}, or has made it.`);

export const runsElsewhere = (id: string) => (): ImprintError =>
  new ImprintError("JOB_NOT_FINISHED", `Another service runs the job ${id}.`);

type Reserving = Pick<Job, "job_id" | "request" | "reserved_adapter_id">;

/** From its preparation to its end a job has itself, the adapter that it makes and the jobs that it goes on from to itself. */
export const needsOf = (
  kind: Pick<Kind, "continues">,
  { job_id, request, reserved_adapter_id: adapterId }: Reserving,
): readonly Need[] => [
  ...[job_id, ...(kind.continues?.(request) ?? [])].map((id): Need => [leaseOf.job(id), runsElsewhere(id)]),
  ...(adapterId === null ? [] : [[leaseOf.adapter(adapterId), idTaken(adapterId)] as const]),
];

export const releaseNeeds = async (needs: readonly Need[], leases: Leases): Promise<void> => {
  for (const [name] of needs) await leases.release(name);
};

/** Takes all of them, or none: then the answer is what another service has. */
export const takeNeeds = async (needs: readonly Need[], leases: Leases): Promise<Need | null> => {
  for (const [at, need] of needs.entries()) {
    if (await leases.take(need[0])) continue;
    await releaseNeeds(needs.slice(0, at), leases);
    return need;
  }
  return null;
};

/** A kind of job where several services share a data directory. */
export const leased = (kind: Kind, { database, leases }: Pick<Workshop, "database" | "leases">): Kind => {
  if (!leases.shared) return kind;
  return {
    ...kind,
    prepare: async (job, signal) => {
      const { reserved_adapter_id: adapterId } = job;
      const needs = needsOf(kind, job);
      const taken = await takeNeeds(needs, leases);
      if (taken !== null) throw taken[1]();
      try {
        if (adapterId !== null && (await inTransaction(database, (db) => isAdapterIdTaken(db, adapterId))))
          throw idTaken(adapterId)();
        return await kind.prepare(job, signal);
      } catch (error) {
        await releaseNeeds(needs, leases);
        throw error;
      }
    },
    discard: async (job, end) => {
      try {
        await kind.discard(job, end);
      } finally {
        await releaseNeeds(needsOf(kind, job), leases);
      }
    },
  };
};
