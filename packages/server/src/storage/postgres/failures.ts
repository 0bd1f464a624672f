import { ImprintError } from "../../common/error.js";
import { TransactionConflictError } from "../conflict.js";
import { OutcomeUnknownError } from "../outcome-unknown.js";

/** SQLSTATEs: https://www.postgresql.org/docs/15/errcodes-appendix.html */
const CONFLICTS: ReadonlySet<string> = new Set(["40001", "40P01"]);
const DISK_FULL = "53100";

/** What is wrong with the server or the way to it, and not with the statement: systems' codes, classes 08 and 28, and some more. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ENOENT"],
  ...["EACCES", "57P01", "57P02", "57P03", "53300", "3D000", "25006"],
]);
const UNREACHABLE_CLASS = /^(08|28)/;

/** pg's own words for connections that ended or never began; such errors have no code. */
const WORDS =
  /connection terminated|timeout exceeded when trying to connect|query read timeout|not queryable|socket has been ended/i;

export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

export const isUnreachable = (error: unknown): boolean => {
  const code = codeOf(error);
  if (code !== "") return UNREACHABLE.has(code) || UNREACHABLE_CLASS.test(code);
  return (
    error instanceof Error && (WORDS.test(error.message) || (error instanceof AggregateError && error.errors.some(isUnreachable)))
  );
};

const reasonOf = (error: unknown): string => codeOf(error) || "the connection ended";

/** What pg threw, as the service says it. Nothing of the address is repeated. */
export const asDatabaseError = (error: unknown, { committing = false }: { readonly committing?: boolean } = {}): unknown => {
  const code = codeOf(error);
  if (CONFLICTS.has(code)) return new TransactionConflictError(error);
  if (code === DISK_FULL)
    return new ImprintError("DISK_FULL", "The disk of the registry's database is full.", {
      hint: "Free space on the disk of the database server, and try again.",
      cause: error,
    });
  if (!isUnreachable(error)) return error;
  const message = `The registry's database does not answer (${reasonOf(error)}).`;
  if (!committing) return new ImprintError("DATABASE_UNAVAILABLE", message, { cause: error });
  const unknown = `${message} Whether the change was stored is not known: look before you make it again.`;
  return new OutcomeUnknownError("DATABASE_UNAVAILABLE", unknown, { cause: error });
};
