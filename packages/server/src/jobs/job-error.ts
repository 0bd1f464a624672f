import { ERRORS, type ErrorCode, type ErrorDetail } from "@imprint/contracts";

interface JobErrorOptions {
  /** What to do about it; the catalogue's hint when left out. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/** A failure with a code of the catalogue. `message` is a sentence about this case, without absolute paths. */
export class JobError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;

  constructor(code: ErrorCode, message: string, { hint, cause }: JobErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "JobError";
    this.code = code;
    this.hint = hint ?? ERRORS[code].hint;
  }

  static from({ code, message, hint }: ErrorDetail): JobError {
    return new JobError(code, message, { hint });
  }

  toDetail(): ErrorDetail {
    return { code: this.code, message: this.message, hint: this.hint };
  }
}

/** Any thrown value as a JobError. What is not one says nothing to the user: the service's log has it. */
export function asJobError(thrown: unknown): JobError {
  if (thrown instanceof JobError) return thrown;
  if ((thrown as NodeJS.ErrnoException | null)?.code === "ENOSPC") {
    return new JobError("DISK_FULL", "The disk filled up while the job was handled.", { cause: thrown });
  }
  return new JobError("INTERNAL_ERROR", "The service failed while it handled the job.", { cause: thrown });
}
