import type { Log } from "../common/log.js";
import type { Runner } from "../runners/runner.js";
import type { Jobs } from "./jobs.js";

interface RecoverOptions {
  readonly runner: Pick<Runner, "leftBehind" | "release">;
  readonly jobs: Pick<Jobs, "adopt">;
  readonly adopt: boolean;
  readonly log: Log;
}

/**
 * What an earlier run of the service left with its runner: followed again, or stopped. Stopping goes on in the background; what was
 * stopped leaves its checkpoint. Where the runner cannot say what is left, nothing is followed, and nothing stopped.
 */
export const recoverJobs = async ({ runner, jobs, adopt, log }: RecoverOptions): Promise<void> => {
  const left = await runner.leftBehind().catch((err: unknown) => {
    log.error({ err }, "it is not known which jobs of an earlier run go on: they are left alone until the service starts again");
    return null;
  });
  if (left === null) return;
  const others = adopt ? left.filter((job) => jobs.adopt(job) === null) : left;
  if (left.length > 0)
    log.warn({ adopted: left.length - others.length, stopped: others.length }, "jobs of an earlier run were found");
  void runner
    .release(others.map(({ job_id }) => job_id))
    .catch((err: unknown) => log.error({ err }, "jobs of an earlier run could not be stopped"));
};
