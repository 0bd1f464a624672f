import type { EarlyStopping, TrainSweepRequest } from "@imprint/contracts";
import { ProblemError } from "../../http/problem.js";
import { type Defaults, resolveCommon, resolveSelection, sessionIdsOf } from "../resolve.js";
import { trialsOf } from "./trials.js";

const EARLY_STOPPING: EarlyStopping = "halving";

/** Trials are chosen by held-out text: without any there is nothing to choose by. */
const checkHeldOut = ({ holdout }: TrainSweepRequest): void => {
  if (holdout !== "none") return;
  const message =
    "must hold something out, since held-out text chooses the best trial: leave it out, or name a share or sessions";
  throw new ProblemError("VALIDATION_FAILED", `Field holdout ${message}.`, { errors: [{ path: "/holdout", message }] });
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
