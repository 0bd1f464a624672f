import type { Clock } from "../common/clock.js";
import type { Log } from "../common/log.js";
import type { LeftJob, Runner } from "../runners/runner.js";
import type { Jobs } from "./jobs.js";

/** To whom of the services that share a data directory a job belongs that one of them left. */
export interface Claims {
  readonly shared: boolean;
  /** `ours`: nobody else may follow or stop it until it is released. `unknown`: whoever has it may live, and is asked for again. */
  take(job: LeftJob): Promise<"ours" | "theirs" | "unknown">;
  release(job: LeftJob): Promise<void>;
}

interface RecoverOptions {
  readonly runner: Pick<Runner, "leftBehind" | "release">;
  readonly jobs: Pick<Jobs, "adopt" | "get">;
  readonly claims: Claims;
  readonly adopt: boolean;
  /** Aborts when the service begins to stop: nothing is adopted or stopped then. */
  readonly closing: AbortSignal;
  readonly clock: Clock;
  readonly log: Log;
}

const LOOK_AGAIN_MS = 30_000;

/**
 * What an earlier run of the service, or another service that is gone, left with its runner: followed again, or stopped. Stopping goes
 * on in the background; what was stopped leaves its checkpoint. A service that adopts among others goes on looking; one that stops looks
 * again only where it could not know at its start. Resolves after the first look.
 */
export const recoverJobs = async ({ runner, jobs, claims, adopt, closing, clock, log }: RecoverOptions): Promise<void> => {
  const settled = new Set<string>();

  const release = (others: readonly LeftJob[]): void => {
    const released = runner.release(others.map(({ job_id }) => job_id));
    void released
      .catch((err: unknown) => log.error({ err }, "jobs of an earlier run could not be stopped"))
      .then(async () => {
        for (const job of others) await claims.release(job);
      })
      .catch((err: unknown) => log.error({ err }, "leases of jobs of an earlier run could not be let go of"));
  };

  /** Whether to look again. */
  const look = async ({ first }: { readonly first: boolean }): Promise<boolean> => {
    const left = await runner.leftBehind();
    const ours: LeftJob[] = [];
    let unknown = 0;
    for (const job of left) {
      if (settled.has(job.job_id) || jobs.get(job.job_id)) continue;
      const claim = await claims.take(job);
      if (claim === "ours") ours.push(job);
      if (claim === "unknown") unknown += 1;
    }
    if (closing.aborted) return false;
    for (const { job_id } of ours) settled.add(job_id);
    const others = adopt ? ours.filter((job) => jobs.adopt(job) === null) : ours;
    if (ours.length > 0)
      log.warn({ adopted: ours.length - others.length, stopped: others.length }, "jobs of an earlier run were found");
    if (first || others.length > 0) release(others);
    return claims.shared && (adopt || unknown > 0);
  };

  const later = (): void => {
    const disarm = clock.after(LOOK_AGAIN_MS, () => {
      closing.removeEventListener("abort", disarm);
      void look({ first: false })
        .catch((err: unknown) => {
          log.warn({ err }, "jobs that other services left could not be looked for");
          return true;
        })
        .then((again) => {
          if (again && !closing.aborted) later();
        });
    });
    closing.addEventListener("abort", disarm, { once: true });
  };

  if (await look({ first: true })) later();
};
