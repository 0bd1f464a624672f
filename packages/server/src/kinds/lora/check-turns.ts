import type { TrainLoraRequest } from "@imprint/contracts";
import { ProblemError } from "../../http/problem.js";

/** Numbers of turns mean nothing over several sessions. */
export const checkTurns = ({ train_on, session_ids = [] }: Pick<TrainLoraRequest, "train_on" | "session_ids">): void => {
  if (typeof train_on !== "object" || session_ids.length < 2) return;
  const message = "takes turns of one session only: train on one session, or choose by all, successful_steps or final_answer";
  throw new ProblemError("VALIDATION_FAILED", `Field train_on ${message}.`, { errors: [{ path: "/train_on", message }] });
};
