import type { ErrorCode } from "@imprint/contracts";

/** The command was called wrongly: exit code 2, and the sentence says how to call it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command did what it could and failed: exit code 1. */
export class CommandError extends Error {
  override readonly name = "CommandError";

  /** `code` is one of the catalogue's, where one fits. */
  constructor(
    message: string,
    readonly code: ErrorCode | null = null,
  ) {
    super(message);
  }
}
