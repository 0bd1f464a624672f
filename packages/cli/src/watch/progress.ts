import type { Progress } from "@imprint/contracts";
import { bar } from "../output/bar.js";
import type { Paint } from "../output/paint.js";
import { duration } from "../output/text.js";

/** The figures of a training step, without the bar. */
export function figures(progress: Progress): string {
  return [
    `step ${progress.step}/${progress.steps}`,
    `loss ${progress.loss.toFixed(3)}`,
    `${Math.round(progress.tokens_per_second)} tokens/s`,
    `${duration(progress.eta_seconds)} left`,
  ].join("  ");
}

/** A bar that is as full as the training is done. `steps` is an upper bound, so it may end early. */
export function progressBar(progress: Progress, paint: Paint): string {
  const share = progress.steps === 0 ? 0 : progress.step / progress.steps;
  return `${bar(share, paint)}  ${figures(progress)}`;
}
