import { ImprintError } from "../common/error.js";
import type { Job } from "../jobs/job.js";
import type { Kind } from "../jobs/kind.js";
import { isAdapterIdTaken } from "../registry/adapters.js";
import { leaseOf } from "../storage/leases.js";
import { inTransaction } from "../storage/transaction.js";
import type { Workshop } from "./workshop.js";

/** A lease that a job needs, and what it is refused with where another service has it. */
type Need = readonly [name: string, refusal: () => ImprintError];

const idTaken = (id: string) => (): ImprintError =>
  new ImprintError("ADAPTER_ID_TAKEN", `Another service makes the adapter ${id}, or has made it.`);

const runsElsewhere = (id: string) => (): ImprintError =>
  new ImprintError("JOB_NOT_FINISHED", `Another service runs the job ${id}.`);

/**
 * A kind of job where several services share a data directory: from its preparation to its end a job has itself, the adapter that it
 * makes and the jobs that it goes on from to itself.
 */
export const leased = (kind: Kind, { database, leases }: Pick<Workshop, "database" | "leases">): Kind => {
  if (!leases.shared) return kind;

  const needsOf = ({ job_id, request, reserved_adapter_id: adapterId }: Job): readonly Need[] => [
    ...[job_id, ...(kind.continues?.(request) ?? [])].map((id): Need => [leaseOf.job(id), runsElsewhere(id)]),
    ...(adapterId === null ? [] : [[leaseOf.adapter(adapterId), idTaken(adapterId)] as const]),
  ];

  const release = async (needs: readonly Need[]): Promise<void> => {
    for (const [name] of needs) await leases.release(name);
  };

  const take = async (needs: readonly Need[]): Promise<void> => {
    for (const [at, [name, refusal]] of needs.entries()) {
      if (await leases.take(name)) continue;
      await release(needs.slice(0, at));
      throw refusal();
    }
  };

  return {
    ...kind,
    prepare: async (job, signal) => {
      const { reserved_adapter_id: adapterId } = job;
      const needs = needsOf(job);
      await take(needs);
      try {
        if (adapterId !== null && (await inTransaction(database, (db) => isAdapterIdTaken(db, adapterId))))
          throw idTaken(adapterId)();
        return await kind.prepare(job, signal);
      } catch (error) {
        await release(needs);
        throw error;
      }
    },
    discard: async (job, end) => {
      try {
        await kind.discard(job, end);
      } finally {
        await release(needsOf(job));
      }
    },
  };
};
