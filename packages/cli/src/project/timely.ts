import type { Imprint } from "@imprint/client";
import { isRunning } from "@imprint/contracts";
import { systemClock, type WatchClock } from "../import/watch-files.js";
import { type FollowedRun, jobOf } from "./follow-run.js";
import { isTime, WHEN, type When } from "./when.js";

const LOOK_MS = 2_000;

type Run = (sessions: readonly string[], signal: AbortSignal) => Promise<FollowedRun | null>;

interface Timely {
  readonly when: When;
  readonly client: Pick<Imprint, "projects" | "jobs">;
  readonly name: string;
  readonly note: (text: string) => void;
  readonly clock?: WatchClock;
  readonly isTime?: () => Promise<boolean>;
}

/** Runs of a project, at their time alone: one that is under way when it ends is called off, and goes on from its checkpoint the next time. */
export const timely = (
  run: Run,
  { when, client, name, note, clock = systemClock, isTime: isIt = () => isTime(when) }: Timely,
): Run => {
  const callOff = async (): Promise<void> => {
    const running = (await client.projects.get(name)).runs.find(isRunning);
    const job = running && jobOf(running);
    if (job) await client.jobs.cancel(job);
  };
  /** Resolves once the run is over, with whether it was called off. */
  const guard = async (over: AbortSignal): Promise<boolean> => {
    let called = false;
    for (; !over.aborted; await clock.sleep(LOOK_MS, over)) {
      if (await isIt()) continue;
      called = true;
      // What has ended meanwhile is not called off; what follows it is, at the next look.
      await callOff().catch(() => undefined);
    }
    return called;
  };
  return async (sessions, signal) => {
    for (;;) {
      while (!signal.aborted && !(await isIt())) await clock.sleep(LOOK_MS, signal);
      if (signal.aborted) return null;
      const over = new AbortController();
      const guarded = guard(over.signal);
      const followed = await run(sessions, signal).finally(() => over.abort());
      if (!(await guarded) || followed?.run.status !== "cancelled") return followed;
      note(`${name} stops here, and goes on ${WHEN[when]}.`);
    }
  };
};
