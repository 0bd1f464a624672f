import type { ErrorCode } from "@imprint/contracts";
import type { FieldError } from "@imprint/contracts/fields";
import { ImprintError } from "./error.js";

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
