import { asImprintError, type ImprintError, type Log } from "../common/error.js";
import type { Job } from "./job.js";
import type { Kind, Made, RunContext } from "./kind.js";

/** How a job ended; `failed` also when it was stopped, since the caller knows why it stopped it. */
export type JobEnd =
  | { readonly type: "completed"; readonly made: Made; readonly warnings: readonly string[] }
  | { readonly type: "failed"; readonly error: ImprintError };

interface RunOptions extends RunContext {
  readonly kind: Kind;
  /** Of a job that is under way already: nothing is prepared. */
  readonly task?: unknown;
  /** The job as it is now. */
  readonly job: () => Job;
  /** The run is over; its files are about to be validated and registered. */
  readonly onRegistering: () => void;
  readonly log: Log;
}

/** One job from start to end. Never rejects. What was staged is gone when it resolves, unless it could not be removed. */
export async function runJob({ kind, task: underWay, job, onRegistering, log, ...context }: RunOptions): Promise<JobEnd> {
  const { signal } = context;
  const { job_id, request } = job();
  let prepared = false;
  let registered = false;
  try {
    let result = underWay === undefined ? await kind.existing?.(job()) : null;
    if (!result) {
      const task = underWay ?? (await kind.prepare(job(), signal));
      prepared = true;
      signal.throwIfAborted();
      result = await kind.run(task, context);
      signal.throwIfAborted();
      onRegistering();
      await kind.finish({ job: job(), task, result, signal });
      registered = true;
    }
    return { type: "completed", made: kind.shows(request, result), warnings: result.warnings };
  } catch (thrown) {
    const error = asImprintError(thrown);
    if (error.code === "INTERNAL_ERROR" && !signal.aborted) log.error({ err: thrown, job_id }, "a job failed inside the service");
    return { type: "failed", error };
  } finally {
    if (prepared)
      await kind.discard(job(), { registered }).catch((err: unknown) => {
        log.error({ err, job_id }, "a staging folder could not be removed; the next start removes it");
      });
  }
}
