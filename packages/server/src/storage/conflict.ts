import { ImprintError } from "../common/error.js";

/** A transaction that others crossed: it changed nothing, and may be done again from its beginning. */
export class TransactionConflictError extends ImprintError {
  override readonly name = "TransactionConflictError";

  constructor(cause: unknown) {
    super("DATABASE_UNAVAILABLE", "Others changed the same rows of the registry meanwhile.", { hint: "Try again.", cause });
  }
}
