import type { JobDetails, JobPhase, Measuring, Progress } from "@imprint/contracts";
import { bar } from "../output/bar.js";
import type { Paint } from "../output/paint.js";
import { bytes, duration, plain } from "../output/text.js";

/** The figures of a training step, without the bar. */
export function figures(progress: Progress): string {
  return [
    `step ${progress.step}/${progress.steps}`,
    `loss ${progress.loss.toFixed(3)}`,
    ...(progress.held_out_loss === null ? [] : [`held out ${progress.held_out_loss.toFixed(3)}`]),
    `${Math.round(progress.tokens_per_second)} tokens/s`,
    `${duration(progress.eta_seconds)} left`,
  ].join("  ");
}

/** How far an evaluation is, or a training and its proof, or, in bytes, a pull, without the bar. */
export function measured({ done, total, what, eta_seconds: left }: Measuring, phase: JobPhase | null): string {
  const shown = phase === "fetching" ? bytes : String;
  return `${shown(done)} of ${shown(total)}  ${plain(what)}${left === undefined ? "" : `  ${duration(left)} left at most`}`;
}

/** A bar that is as full as the training is done. `steps` is an upper bound, so it may end early. */
function progressBar(progress: Progress, paint: Paint): string {
  const share = progress.steps === 0 ? 0 : progress.step / progress.steps;
  return `${bar(share, paint)}  ${figures(progress)}`;
}

/** Phases that count bytes, or read window by window; a training until its first step ends. */
const MEASURED: ReadonlySet<JobPhase> = new Set(["fetching", "measuring", "training", "proving"]);

/** The bar of a running job; null while there is nothing to count. */
export function barOf({ status, phase, progress, measuring, cancel_requested }: JobDetails, paint: Paint): string | null {
  if (status !== "running" || cancel_requested) return null;
  if (phase === "training" && progress !== null) return progressBar(progress, paint);
  if (phase !== null && MEASURED.has(phase) && measuring !== null)
    return `${bar(measuring.done / measuring.total, paint)}  ${measured(measuring, phase)}`;
  return null;
}
