import type { Clock } from "../common/clock.js";
import type { Claims } from "../jobs/recover.js";
import type { LeftJob } from "../runners/runner.js";
import { leaseOf } from "../storage/leases.js";
import { watchLives } from "../storage/life.js";
import type { Kinds } from "./index.js";
import { type Need, needsOf, releaseNeeds, runsElsewhere, takeNeeds } from "./leased.js";
import type { Workshop } from "./workshop.js";

const sole: Claims = { shared: false, take: async () => "ours", release: async () => undefined };

/** Who of several services may follow or stop what one of them left: whoever gets its leases, once its service is gone. */
export const createClaims = ({
  kinds,
  workshop: { leases, paths },
  clock,
}: {
  readonly kinds: Kinds;
  readonly workshop: Pick<Workshop, "leases" | "paths">;
  readonly clock: Clock;
}): Claims => {
  if (!leases.shared) return sole;
  const look = watchLives({ paths, leases, clock });

  const needs = ({ job_id, memo }: LeftJob): readonly Need[] => {
    if (memo === null) return [[leaseOf.job(job_id), runsElsewhere(job_id)]];
    const { request } = memo;
    const kind = kinds[memo.kind];
    return needsOf(kind, { job_id, request, reserved_adapter_id: kind.reserves(request as never) });
  };

  return {
    shared: true,
    take: async (job) => {
      if ((await takeNeeds(needs(job), leases)) !== null) return "theirs";
      if (job.service === null || (await look(job.service)) === "gone") return "ours";
      await releaseNeeds(needs(job), leases); // its service ends just now, or takes its leases again
      return "unknown";
    },
    release: (job) => releaseNeeds(needs(job), leases),
  };
};
