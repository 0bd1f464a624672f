import { AbortError, NotFoundError } from "@imprint/client";
import { isRunning, type Project, type ProjectRun } from "@imprint/contracts";
import { type WatchOptions, watchJob } from "../watch/watch-job.js";

/** How a run ended, and what its project is then. */
export interface FollowedRun {
  readonly project: Project;
  readonly run: ProjectRun;
}

export const jobOf = ({ status, train_job_id, evaluate_job_id }: ProjectRun): string | null =>
  status === "evaluating" ? evaluate_job_id : train_job_id;

/** The project once one of its runs has come so far, as its events tell. */
async function reached(
  { client, name, number, signal }: Pick<FollowRun, "client" | "name" | "number" | "signal">,
  isFar: (run: ProjectRun) => boolean,
): Promise<FollowedRun> {
  for await (const event of client.projects.events(name, signal && { signal })) {
    if (event.type === "resync") continue;
    const { project } = event;
    const run = project.runs.find((one) => one.run === number);
    if (run && isFar(run)) return { project, run };
  }
  throw new Error(`the events of the project ${name} ended`); // they never do
}

interface FollowRun extends Omit<WatchOptions, "jobId"> {
  readonly name: string;
  readonly number: number;
  readonly note: (text: string) => void;
  /** Aborts at a Ctrl-C that the caller hears; without it a Ctrl-C between two jobs ends the process. */
  readonly signal?: AbortSignal;
}

/** Follows a run through its jobs to its end; null when Ctrl-C stopped the watching and the run goes on. */
export async function followRun({ name, number, note, signal, ...watching }: FollowRun): Promise<FollowedRun | null> {
  const { client } = watching;
  const watched = new Set<string | null>([null]);
  for (;;) {
    const isFar = (run: ProjectRun): boolean => !isRunning(run) || !watched.has(jobOf(run));
    const found = await reached({ client, name, number, ...(signal && { signal }) }, isFar).catch((error) => {
      if (error instanceof AbortError) return null;
      throw error;
    });
    if (found === null || !isRunning(found.run)) return found;
    const jobId = jobOf(found.run);
    watched.add(jobId);
    if (found.run.status === "evaluating") note(`${found.run.adapter_id} is trained, and tested now.`);
    try {
      if (jobId !== null && (await watchJob({ ...watching, jobId })) === null) return null;
    } catch (error) {
      // A service that was started again knows the run, and no job of before.
      if (!(error instanceof NotFoundError)) throw error;
    }
  }
}
