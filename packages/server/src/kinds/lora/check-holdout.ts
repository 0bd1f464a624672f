import type { Holdout } from "@imprint/contracts";
import { ProblemError } from "../../http/problem.js";

const faultOf = (held: readonly string[], sessionIds: readonly string[]): string | null => {
  if (held.some((id) => !sessionIds.includes(id))) return "must name sessions of the training: add them to session_ids";
  return sessionIds.some((id) => !held.includes(id)) ? null : "leaves no session to train on: name fewer";
};

/** Sessions that are held out are some of the training's, and not all. */
export const checkHoldout = (holdout: Holdout | undefined, sessionIds: readonly string[]): void => {
  const message = Array.isArray(holdout) ? faultOf(holdout, sessionIds) : null;
  if (message !== null)
    throw new ProblemError("VALIDATION_FAILED", `Field holdout ${message}.`, { errors: [{ path: "/holdout", message }] });
};
