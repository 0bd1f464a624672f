import { createHash } from "node:crypto";
import {
  type EarlyStopping,
  LORA_DEFAULTS,
  sweepHoldoutFault,
  type TrainSweepRequest,
  type TrialSpec,
  trialCounts,
  trialsFault,
} from "@imprint/contracts";
import { fieldRefused } from "../../common/error.js";
import { type Defaults, resolveCommon, resolveSelection, sessionIdsOf } from "../resolve.js";

const EARLY_STOPPING: EarlyStopping = "halving";

const checkHeldOut = (request: TrainSweepRequest): void => {
  const fault = sweepHoldoutFault(request);
  if (fault) throw fieldRefused("holdout", fault.message);
};

/**
 * A sweep with every value decided.
 * @throws ProblemError VALIDATION_FAILED
 */
export const resolveSweep = (request: TrainSweepRequest, defaults: Defaults) => {
  checkHeldOut(request);
  const { rank: _ranks, alpha: _alphas, learning_rate: _rates, epochs: _all, trials: _count, early_stopping, ...rest } = request;
  const sessionIds = sessionIdsOf(rest);
  const common = resolveCommon(rest, sessionIds, defaults);
  const {
    rank: _one,
    epochs: _passes,
    within: _time,
    ...selection
  } = resolveSelection({ ...rest, profile: "learn" }, sessionIds.length);
  return {
    ...common,
    ...selection,
    trials: [...trialsOf(request, common.seed)],
    early_stopping: early_stopping ?? EARLY_STOPPING,
  };
};
export type ResolvedSweep = ReturnType<typeof resolveSweep>;

/** What a sweep is asked: with the one that it goes on with. */
export type SweepJobRequest = ResolvedSweep & { readonly resume_from?: string };

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

/**
 * What a sweep tries.
 * @throws ProblemError VALIDATION_FAILED for one combination, or too many
 */
export const trialsOf = (request: Values & Pick<TrainSweepRequest, "trials">, seed: number): readonly TrialSpec[] => {
  const fault = trialsFault(request);
  if (fault) throw fieldRefused("trials", fault.message);
  return drawn(combinations(request), trialCounts(request).trials, seed);
};
