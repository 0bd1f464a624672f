import type { Clock } from "../../common/clock.js";
import { ImprintError, type Log } from "../../common/error.js";
import type { JobsApi, Submission } from "./jobs-api.js";
import { pause } from "./pause.js";

interface SubmitOptions {
  readonly api: JobsApi;
  readonly submission: Submission;
  readonly signal: AbortSignal;
  readonly retryMs: number;
  readonly patienceMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Hands an attempt to the engine, once however often the answer is lost: the id is ours, and whoever has it already is adopted.
 * Resolves early where the signal aborts.
 * @throws ImprintError CLUSTER_REFUSED or CLUSTER_UNREACHABLE
 */
export const submit = async (options: SubmitOptions): Promise<void> => {
  const { api, submission, signal, retryMs, patienceMs, clock, log } = options;
  const { submission_id } = submission;
  const begun = clock.now();
  while (!signal.aborted) {
    const reply = await api.submit(submission);
    if (reply.type === "ok") return;
    if (reply.type === "exists") {
      log.info({ submission_id }, "the cluster has this job already: it is followed");
      return;
    }
    if (reply.type === "refused" || reply.type === "missing") {
      const why = reply.type === "refused" ? reply.why : "404: there is no Jobs API at this address";
      throw new ImprintError("CLUSTER_REFUSED", `The cluster refused the job (${why}).`);
    }
    log.warn({ submission_id, why: reply.why }, "the cluster did not take the job; it is asked again");
    if (clock.now() - begun >= patienceMs)
      throw new ImprintError(
        "CLUSTER_UNREACHABLE",
        `The cluster did not take the job for ${patienceMs / 1000} seconds (${reply.why}).`,
      );
    await pause(clock, retryMs, signal);
  }
};
