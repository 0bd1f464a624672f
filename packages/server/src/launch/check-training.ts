import type { Holdout, TrainLoraRequest } from "@imprint/contracts";
import { fieldRefused } from "../common/problem.js";

// What the schemas of trainings let pass, because it takes two fields to see it.

const holdoutFault = (held: readonly string[], sessionIds: readonly string[]): string | null => {
  if (held.some((id) => !sessionIds.includes(id))) return "must name sessions of the training: add them to session_ids";
  return sessionIds.some((id) => !held.includes(id)) ? null : "leaves no session to train on: name fewer";
};

/** Sessions that are held out are some of the training's, and not all. */
export const checkHoldout = (holdout: Holdout | undefined, sessionIds: readonly string[]): void => {
  const message = Array.isArray(holdout) ? holdoutFault(holdout, sessionIds) : null;
  if (message !== null) throw fieldRefused("holdout", message);
};

/** Numbers of turns mean nothing over several sessions. */
export const checkTurns = ({ train_on, session_ids = [] }: Pick<TrainLoraRequest, "train_on" | "session_ids">): void => {
  if (typeof train_on !== "object" || session_ids.length < 2) return;
  throw fieldRefused(
    "train_on",
    "takes turns of one session only: train on one session, or choose by all, successful_steps or final_answer",
  );
};

/** How many windows there are is known only once the sessions were read. */
export const checkWindow = (window: number | null, windows: number): void => {
  if (window === null || window <= windows) return;
  throw fieldRefused("window", `must be at most ${windows}, the number of windows that these sessions make`);
};
