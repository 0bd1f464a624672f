import { ERRORS, type ErrorCode, type Problem } from "@imprint/contracts";
import type { FieldError } from "@imprint/contracts/fields";

/** A refusal of a request: the catalogue gives status and title, `detail` is one sentence about this case. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly code: ErrorCode;
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
    super(detail);
    this.code = code;
    this.errors = errors;
    this.headers = headers;
  }
}

/** The client closed the connection before its answer: nobody is left to refuse anything to, and nothing is wrong here. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";

  constructor() {
    super("the client closed the connection");
  }
}

/** One line, bounded: what a client sent is echoed in errors, but never at length. */
export const quote = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text);

/** The body of an error answer. */
export const toProblem = (
  code: ErrorCode,
  detail: string,
  { requestId, errors }: { readonly requestId: string; readonly errors?: readonly FieldError[] | undefined },
): Problem => {
  const { status, title, hint } = ERRORS[code];
  return {
    type: `urn:imprint:error:${code.toLowerCase().replaceAll("_", "-")}`,
    title,
    status: status ?? 500,
    detail: detail === "" ? hint : detail,
    code,
    ...(errors ? { errors: [...errors] } : {}),
    request_id: requestId,
  };
};
