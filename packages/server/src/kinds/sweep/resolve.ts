import { type EarlyStopping, sweepHoldoutFault, type TrainSweepRequest } from "@imprint/contracts";
import { fieldRefused } from "../../common/error.js";
import { type Defaults, resolveCommon, resolveSelection, sessionIdsOf } from "../resolve.js";
import { trialsOf } from "./trials.js";

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
  const { rank: _one, epochs: _passes, ...selection } = resolveSelection({ ...rest, profile: "learn" }, sessionIds.length);
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
