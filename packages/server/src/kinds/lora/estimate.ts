import type { PreviewReport } from "@imprint/contracts";

type Estimate = Pick<PreviewReport, "estimated_seconds" | "estimate">;

/** How long a training of `tokens` may take, from the speeds of earlier trainings of the base model on this machine. */
export const estimateTime = ({
  tokens,
  speeds,
  baseModel,
}: {
  readonly tokens: number;
  readonly speeds: readonly number[];
  readonly baseModel: string;
}): Estimate => {
  const median = speeds.toSorted((left, right) => left - right)[Math.floor(speeds.length / 2)];
  if (median === undefined)
    return {
      estimated_seconds: null,
      estimate: `No training of ${baseModel} has finished on this machine yet: the time is known after the first.`,
    };
  const trainings = speeds.length === 1 ? "the last training" : `the last ${speeds.length} trainings`;
  return {
    estimated_seconds: tokens / median,
    estimate: `At most, for training alone, at the ${Math.round(median)} tokens/s of ${trainings} of ${baseModel} on this machine.`,
  };
};
