import { ImprintError } from "../common/error.js";

/** The connection was lost during a commit: what was to be stored is there, or it is not. */
export class OutcomeUnknownError extends ImprintError {
  override readonly name = "OutcomeUnknownError";
}
