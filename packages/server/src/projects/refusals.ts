import { ImprintError, quote } from "../common/error.js";
import type { RunRow } from "./rows.js";

export const projectNotFound = (name: string): ImprintError =>
  new ImprintError("PROJECT_NOT_FOUND", `There is no project ${quote(name)}.`);

export const projectBusy = ({ project, run, status, train_job_id, evaluate_job_id }: RunRow): ImprintError => {
  const job = (status === "evaluating" ? evaluate_job_id : train_job_id) ?? "";
  return new ImprintError("PROJECT_BUSY", `Run ${run} of ${project} is ${status} (job ${job}).`);
};

export const rollbackImpossible = (sentence: string): ImprintError => new ImprintError("ROLLBACK_IMPOSSIBLE", sentence);
