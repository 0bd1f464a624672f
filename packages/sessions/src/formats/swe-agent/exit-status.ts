import type { Outcome } from "@imprint/contracts";

/** A run that handed in its work may have succeeded; one that ended by a limit or an error did not. */
export const outcomeOfExit = (status: string | null): Outcome =>
  status === null || /^submitted/i.test(status) ? "unknown" : "failure";
