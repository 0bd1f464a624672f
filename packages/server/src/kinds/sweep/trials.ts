import { createHash } from "node:crypto";
import { LORA_DEFAULTS, MAX_TRIALS, type TrainSweepRequest, type TrialSpec } from "@imprint/contracts";
import { ProblemError } from "../../http/problem.js";

type Values = Pick<TrainSweepRequest, "rank" | "alpha" | "learning_rate" | "epochs">;

/** Every combination, the last field changing the fastest. */
const combinations = ({
  rank: ranks = [LORA_DEFAULTS.rank],
  alpha: alphas,
  learning_rate: rates,
  epochs: passes,
}: Values): readonly TrialSpec[] =>
  ranks.flatMap((rank) =>
    (alphas ?? [rank * LORA_DEFAULTS.alpha_per_rank]).flatMap((alpha) =>
      (rates ?? [null]).flatMap((learning_rate) => (passes ?? [null]).map((epochs) => ({ rank, alpha, learning_rate, epochs }))),
    ),
  );

/** `count` of them, the same ones for the same seed, in their order. */
const drawn = (all: readonly TrialSpec[], count: number, seed: number): readonly TrialSpec[] => {
  const place = (at: number): string => createHash("sha256").update(`${seed}:${at}`).digest("hex");
  const chosen = all.map((_, at) => ({ at, place: place(at) })).sort((a, b) => (a.place < b.place ? -1 : 1));
  const kept = new Set(chosen.slice(0, count).map(({ at }) => at));
  return all.filter((_, at) => kept.has(at));
};

const refused = (message: string): ProblemError =>
  new ProblemError("VALIDATION_FAILED", `Field trials ${message}.`, { errors: [{ path: "/trials", message }] });

/**
 * What a sweep tries.
 * @throws ProblemError VALIDATION_FAILED for one combination, or too many
 */
export const trialsOf = (request: Values & Pick<TrainSweepRequest, "trials">, seed: number): readonly TrialSpec[] => {
  const all = combinations(request);
  if (all.length < 2) throw refused("has nothing to compare: name several values of rank, alpha, learning_rate or epochs");
  const { trials: count = all.length } = request;
  if (Math.min(count, all.length) > MAX_TRIALS)
    throw refused(`must be at most ${MAX_TRIALS}, and there are ${all.length} combinations: set it to draw some of them`);
  return drawn(all, count, seed);
};
