import { ERRORS, type ErrorCode, type ErrorDetail, type Proof } from "@imprint/contracts";
import type { FieldError } from "@imprint/contracts/fields";

interface ImprintErrorOptions {
  /** What to do about it; the catalogue's hint when left out. */
  readonly hint?: string;
  readonly cause?: unknown;
  /** Seconds after which another try may do, as another server said. */
  readonly retryAfter?: number | null;
  /** Of the adapter that was refused for what it says. */
  readonly proof?: Proof | null;
}

/** A failure with a code of the catalogue. `message` is a sentence about this case, without absolute paths. */
export class ImprintError extends Error {
  override readonly name: string = "ImprintError";
  readonly code: ErrorCode;
  readonly hint: string;
  readonly proof: Proof | null;
  readonly retryAfter: number | null;

  constructor(code: ErrorCode, message: string, { hint, cause, proof = null, retryAfter = null }: ImprintErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.hint = hint ?? ERRORS[code].hint;
    this.proof = proof;
    this.retryAfter = retryAfter;
  }

  static from({ code, message, hint }: ErrorDetail): ImprintError {
    return new ImprintError(code, message, { hint });
  }

  toDetail(): ErrorDetail {
    return { code: this.code, message: this.message, hint: this.hint };
  }
}

const IS_FULL = "the disk is full";
const IS_READ_ONLY = "the file system is read-only";
const IS_FORBIDDEN = "permission is denied";

/**
 * What file systems and SQLite say when nothing more can be written, in words. SQLite knows ENOSPC; a quota or a limit of file sizes
 * (EFBIG) is an I/O error of a write to it.
 */
const FULL: ReadonlyMap<string | undefined, string> = new Map([
  ["ENOSPC", IS_FULL],
  ["EDQUOT", "this user's share of the disk is used up"],
  ["EFBIG", "a file would be larger than this user may write"],
  ["SQLITE_FULL", IS_FULL],
  ["SQLITE_IOERR_WRITE", IS_FULL],
  ["SQLITE_IOERR_SHMSIZE", IS_FULL],
]);
const DENIED: ReadonlyMap<string | undefined, string> = new Map([
  ["EROFS", IS_READ_ONLY],
  ["EACCES", IS_FORBIDDEN],
  ["EPERM", IS_FORBIDDEN],
  ["SQLITE_READONLY", IS_READ_ONLY],
]);
const IN_THE_WAY: ReadonlyMap<string | undefined, string> = new Map([
  ["EEXIST", "a file is in the way"],
  ["ENOTDIR", "a file is in the way"],
  ["ENOENT", "nothing can be made there"],
  ["ENAMETOOLONG", "the name is too long"],
  ["ELOOP", "links lead in a circle"],
]);

/** Why a disk refuses, which is no fault of Imprint, ending a sentence; undefined for any other error. */
export const diskRefusal = (error: unknown): string | undefined => FULL.get(codeOf(error)) ?? DENIED.get(codeOf(error));

/** Why nothing can be written at a place, ending a sentence. */
export const whyNotWritten = (error: unknown): string =>
  diskRefusal(error) ?? IN_THE_WAY.get(codeOf(error)) ?? "its files cannot be written";

/** What a file system, SQLite or Node calls its error; undefined for any other value. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error ? String(error.code) : undefined;

export const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");

/** For `catch`: null where nothing is there. What cannot be looked at now, by a fault of the disk, may be there. */
export const nullIfMissing = (error: unknown): null => {
  if (isMissing(error)) return null;
  throw error;
};

/** Any thrown value as an ImprintError. What is not one says nothing to the user: the service's log has it. */
export function asImprintError(thrown: unknown): ImprintError {
  if (thrown instanceof ImprintError) return thrown;
  const code = codeOf(thrown);
  if (FULL.has(code))
    return new ImprintError("DISK_FULL", `The disk of the data directory is full (${code}).`, { cause: thrown });
  if (code === "EMFILE" || code === "ENFILE")
    return new ImprintError("FILES_DENIED", `As many files and connections are open as may be (${code}).`, {
      cause: thrown,
      hint: "Close connections to the service, or start it where ulimit -n is larger.",
    });
  const denied = DENIED.get(code);
  if (denied !== undefined)
    return new ImprintError("FILES_DENIED", `The service may not use a file: ${denied} (${code}).`, { cause: thrown });
  return new ImprintError("INTERNAL_ERROR", "The service failed while it handled the job.", { cause: thrown });
}

/** A refusal of a request. `detail` is all that is said: a sentence about this case that also says what to do. */
export class ProblemError extends ImprintError {
  override readonly name = "ProblemError";
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    detail: string,
    {
      errors,
      headers = {},
    }: { readonly errors?: readonly FieldError[]; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(code, detail);
    this.errors = errors;
    this.headers = headers;
  }
}

/** A field that the schema lets pass and the service does not: `message` ends a sentence about it. */
export const fieldRefused = (field: string, message: string): ProblemError =>
  new ProblemError("VALIDATION_FAILED", `Field ${field} ${message}.`, {
    errors: [{ path: `/${field.replaceAll(".", "/")}`, message }],
  });

/** One line, bounded: what a client sent is echoed in errors, but never at length. */
export const quote = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);

/** The service cannot start for a reason that its user can mend: the message says how. */
export class CannotStartError extends Error {
  override readonly name: string = "CannotStartError";
}

/** The configuration cannot be used. Each problem is one sentence that names the setting and where its value came from. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
  }
}

/** Where errors are told: the part of a pino logger that jobs and runners use. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
