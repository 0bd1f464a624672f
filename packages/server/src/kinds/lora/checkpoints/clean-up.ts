import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { JobId } from "@imprint/contracts";
import { matches } from "@imprint/contracts/fields";
import type { Log } from "../../../common/error.js";
import type { Job } from "../../../jobs/job.js";
import type { Jobs } from "../../../jobs/jobs.js";
import { isTerminal } from "../../../jobs/status.js";

export interface Retention {
  /** `<data dir>/checkpoints` */
  readonly folder: string;
  /** Checkpoints that stay: at most so many, ... */
  readonly keep: number;
  /** ... and none that was written longer ago. */
  readonly keepMs: number;
  readonly now: number;
  /** Jobs whose checkpoints somebody works with: they stay, and do not count. */
  readonly inUse: ReadonlySet<unknown>;
}

/** Removes old checkpoints; answers whose. */
export const cleanUpCheckpoints = async ({ folder, keep, keepMs, now, inUse }: Retention): Promise<readonly string[]> => {
  const names = (await readdir(folder)).filter((name) => matches(JobId, name) && !inUse.has(name));
  const ages = await Promise.all(
    names.map(async (name) => {
      const found = await stat(join(folder, name)).catch(() => null);
      return found ? [{ name, writtenAt: found.mtimeMs }] : [];
    }),
  );
  const old = ages
    .flat()
    .sort((a, b) => b.writtenAt - a.writtenAt || (a.name < b.name ? 1 : -1))
    .filter(({ writtenAt }, index) => index >= keep || now - writtenAt > keepMs)
    .map(({ name }) => name);
  for (const name of old) await rm(join(folder, name), { recursive: true, force: true });
  return old;
};

const everyJob = { limit: Number.MAX_SAFE_INTEGER };

/** The jobs that write checkpoints, and those that others of them go on from. */
const inUse = (jobs: Pick<Jobs, "list">): ReadonlySet<unknown> => {
  const live: readonly Job[] = (["queued", "running"] as const).flatMap((status) => jobs.list({ ...everyJob, status }).jobs);
  return new Set(live.flatMap(({ job_id, request }) => [job_id, request.resume_from, request.salvage_of]));
};

/** Whether the end of a job changes which checkpoints stay: it left one, or no longer needs another's. */
const mayLeave = ({ checkpoint, request }: Job): boolean =>
  checkpoint !== null || request.resume_from != null || request.salvage_of != null;

/** Old ones go at the end of any job, but not of hundreds in a second. */
const LOOK_MS = 60_000;

/** Cleans up now, and when a job has ended: once at a time, and once for all jobs that end meanwhile. */
export const cleanUpAfterJobs = async ({
  jobs,
  options,
  log,
}: {
  readonly jobs: Jobs;
  readonly options: () => Omit<Retention, "inUse">;
  readonly log: Log;
}): Promise<void> => {
  let wanted = false;
  let running = false;
  let lastAt = Number.NEGATIVE_INFINITY;
  const cleanUp = async (): Promise<void> => {
    wanted = true;
    if (running) return;
    running = true;
    try {
      while (wanted) {
        wanted = false;
        const present = options();
        lastAt = present.now;
        await cleanUpCheckpoints({ ...present, inUse: inUse(jobs) });
      }
    } catch (err) {
      log.error({ err }, "old checkpoints could not be removed");
    } finally {
      running = false;
    }
  };
  await cleanUp();
  jobs.subscribe((job) => {
    if (isTerminal(job.status) && (mayLeave(job) || options().now - lastAt > LOOK_MS)) void cleanUp();
  });
};
