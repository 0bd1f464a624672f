import { type Imprint, NotFoundError } from "@imprint/client";
import { isRunning, type Project, type ProjectRun } from "@imprint/contracts";
import { type WatchOptions, watchJob } from "../watch/watch-job.js";

/** How a run ended, and what its project is then. */
export interface FollowedRun {
  readonly project: Project;
  readonly run: ProjectRun;
}

const jobOf = ({ status, train_job_id, evaluate_job_id }: ProjectRun): string | null =>
  status === "evaluating" ? evaluate_job_id : train_job_id;

/** The project once one of its runs has come so far, as its events tell. */
async function reached(
  { client, name, number }: { readonly client: Imprint; readonly name: string; readonly number: number },
  isFar: (run: ProjectRun) => boolean,
): Promise<FollowedRun> {
  for await (const event of client.projects.events(name)) {
    if (event.type === "resync") continue;
    const { project } = event;
    const run = project.runs.find((one) => one.run === number);
    if (run && isFar(run)) return { project, run };
  }
  throw new Error(`the events of the project ${name} ended`); // they never do
}

/** Follows a run through its jobs to its end; null when Ctrl-C stopped the watching and the run goes on. */
export async function followRun({
  name,
  number,
  note,
  ...watching
}: Omit<WatchOptions, "jobId"> & {
  readonly name: string;
  readonly number: number;
  readonly note: (text: string) => void;
}): Promise<FollowedRun | null> {
  const { client } = watching;
  const watched = new Set<string | null>([null]);
  for (;;) {
    const found = await reached({ client, name, number }, (run) => !isRunning(run) || !watched.has(jobOf(run)));
    if (!isRunning(found.run)) return found;
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
