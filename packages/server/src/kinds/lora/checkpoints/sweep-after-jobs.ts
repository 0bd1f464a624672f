import type { Log } from "../../../common/log.js";
import type { Job } from "../../../jobs/job.js";
import type { Jobs } from "../../../jobs/jobs.js";
import { isTerminal } from "../../../jobs/state-machine.js";
import { type SweepOptions, sweepCheckpoints } from "./sweep.js";

const everyJob = { limit: Number.MAX_SAFE_INTEGER };

/** The jobs that write checkpoints, and those that others of them go on from. */
const inUse = (jobs: Pick<Jobs, "list">): ReadonlySet<unknown> => {
  const live: readonly Job[] = (["queued", "running"] as const).flatMap((status) => jobs.list({ ...everyJob, status }).jobs);
  return new Set(live.flatMap(({ job_id, request }) => [job_id, request.resume_from, request.salvage_of]));
};

/** Sweeps now, and whenever a job has ended: one sweep at a time, and one for all jobs that end meanwhile. */
export const sweepAfterJobs = async ({
  jobs,
  options,
  log,
}: {
  readonly jobs: Jobs;
  readonly options: () => Omit<SweepOptions, "inUse">;
  readonly log: Log;
}): Promise<void> => {
  let wanted = false;
  let sweeping = false;
  const sweep = async (): Promise<void> => {
    wanted = true;
    if (sweeping) return;
    sweeping = true;
    try {
      while (wanted) {
        wanted = false;
        await sweepCheckpoints({ ...options(), inUse: inUse(jobs) });
      }
    } catch (err) {
      log.error({ err }, "old checkpoints could not be removed");
    } finally {
      sweeping = false;
    }
  };
  await sweep();
  jobs.subscribe(({ status }) => {
    if (isTerminal(status)) void sweep();
  });
};
