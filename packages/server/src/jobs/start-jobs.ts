import type { Log } from "../common/error.js";
import type { Runner } from "../runners/runner.js";
import { createJobs } from "./create-jobs.js";
import { createIds } from "./ids.js";
import type { Jobs, JobsOptions } from "./jobs.js";

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

export interface StartOptions extends Omit<JobsOptions, "newId" | "limits" | "runner"> {
  readonly runner: JobsOptions["runner"] & Pick<Runner, "leftBehind">;
  readonly settings: {
    readonly slots: number;
    readonly max_queued: number;
    readonly max_job_seconds: number;
    readonly adopt: boolean;
  };
  readonly limits: { readonly keepFinished: number; readonly keepFinishedMs: number };
}

/** The jobs of a service that starts, with those that an earlier run left. */
export const startJobs = async ({
  settings,
  limits: { keepFinished, keepFinishedMs },
  ...options
}: StartOptions): Promise<Jobs> => {
  const { slots, max_queued: maxQueued, max_job_seconds, adopt } = settings;
  const limits = { slots, maxQueued, keepFinished, keepFinishedMs, maxJobMs: max_job_seconds * 1000 };
  const jobs = createJobs({ ...options, limits, newId: createIds(options) });
  await recoverJobs({ ...options, jobs, adopt });
  return jobs;
};
