import { ERRORS, type ErrorCode, type Problem } from "@imprint/contracts";
import type { FieldError } from "@imprint/contracts/fields";

/** What nginx calls "client closed request": it reaches nobody, and tells hooks and metrics that no error of the service happened. */
export const CLIENT_CLOSED_REQUEST = 499;

/** The client closed the connection before its answer: nobody is left to refuse anything to, and nothing is wrong here. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";

  constructor() {
    super("the client closed the connection");
  }
}

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
