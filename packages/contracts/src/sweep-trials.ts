import type { FieldError } from "./fields.js";
import { MAX_TRIALS, type TrainSweepRequest } from "./sweep-request.js";

type Tried = Pick<TrainSweepRequest, "rank" | "alpha" | "learning_rate" | "epochs" | "trials">;

/** So many combinations a sweep has, and so many of them it tries. */
export const trialCounts = ({
  rank,
  alpha,
  learning_rate: rates,
  epochs,
  trials,
}: Tried): { readonly combinations: number; readonly trials: number } => {
  const combinations = [rank, alpha, rates, epochs].reduce((all, values) => all * (values?.length ?? 1), 1);
  return { combinations, trials: Math.min(trials ?? combinations, combinations) };
};

/** What no schema says of the trials of a sweep: null where they can be tried. */
export const trialsFault = (request: Tried): FieldError | null => {
  const path = "/trials";
  const { combinations, trials } = trialCounts(request);
  if (combinations < 2)
    return { path, message: "has nothing to compare: name several values of rank, alpha, learning_rate or epochs" };
  if (trials <= MAX_TRIALS) return null;
  return {
    path,
    message: `must be at most ${MAX_TRIALS}, and there are ${combinations} combinations: set it to draw some of them`,
  };
};

/** The same of what a sweep holds out: trials are chosen by held-out text, and without any there is nothing to choose by. */
export const sweepHoldoutFault = ({ holdout }: Pick<TrainSweepRequest, "holdout">): FieldError | null =>
  holdout === "none"
    ? {
        path: "/holdout",
        message: "must hold something out, since held-out text chooses the best trial: leave it out, or name a share or sessions",
      }
    : null;
