import { quote } from "../common/quote.js";
import { ProblemError } from "../http/problem.js";
import type { RunRow } from "./rows.js";

export const projectNotFound = (name: string): ProblemError =>
  new ProblemError(
    "PROJECT_NOT_FOUND",
    `There is no project ${quote(name)}: imprint project NAME --from FOLDER makes one, and so does POST /projects/{name}/runs with session_ids.`,
  );

export const projectBusy = ({ project, run, status, train_job_id, evaluate_job_id }: RunRow): ProblemError => {
  const job = (status === "evaluating" ? evaluate_job_id : train_job_id) ?? "";
  return new ProblemError(
    "PROJECT_BUSY",
    `Run ${run} of ${project} is ${status} (job ${job}): wait for its end, or cancel that job.`,
  );
};

export const rollbackImpossible = (detail: string): ProblemError => new ProblemError("ROLLBACK_IMPOSSIBLE", detail);
