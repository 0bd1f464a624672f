import type { JobDetails, JobKind, JobPhase } from "@imprint/contracts";
import { megabytes } from "../output/memory.js";
import { count, heldOutSessions, plain } from "../output/text.js";

const PHASES: Readonly<Record<JobPhase, string>> = {
  starting: "starting the trainer",
  fetching: "fetching the base model",
  loading_model: "loading the base model",
  preparing_data: "preparing the session",
  training: "training",
  measuring: "measuring",
  generating: "generating the adapter",
  exporting: "writing the files",
  saving: "saving",
  proving: "proving the reloaded adapter",
  registering: "registering",
};

/** What a job saves and registers, where it is no adapter. */
const MADE: Partial<Record<JobKind, string>> = { evaluate: "evaluation", export: "export", pull: "base model" };

/** What a job is doing, in words. */
export function phaseOf(job: JobDetails): string {
  if (job.status === "queued") return job.queue_position === null ? "queued" : `queued, position ${job.queue_position}`;
  if (job.status !== "running") return job.status;
  if (job.cancel_requested) return "cancelling";
  const phase = job.phase ?? "starting";
  return PHASES[phase] + (phase === "saving" || phase === "registering" ? ` the ${MADE[job.kind] ?? "adapter"}` : "");
}

/** What will be trained, in one line; null while unknown. */
export function planOf({ plan }: JobDetails): string | null {
  if (plan === null) return null;
  const sizes = `${count(plan.tokens, "token")}, ${plan.supervised_tokens.toLocaleString("en")} supervised, in ${count(plan.windows, "window")}`;
  const held =
    plan.held_out === null
      ? ""
      : `; ${count(plan.held_out.supervised_tokens, "token")} held out of ${heldOutSessions(plan.held_out)}`;
  const memory = plan.memory === null ? "" : `, takes ${megabytes(plan.memory.total_mb)}`;
  const remarks = plan.remarks.map((remark) => `\n! ${plain(remark)}`).join("");
  const skipped = plan.skipped.length === 0 ? "" : `; ${count(plan.skipped.length, "session")} skipped`;
  return `${sizes}; rank ${plan.rank}, at most ${count(plan.max_steps, "step")}${memory}${held}${skipped}${remarks}`;
}
