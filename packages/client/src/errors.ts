import { type ErrorCode, isObject, type Problem } from "@imprint/contracts";

/** Everything that this client throws. */
export class ImprintError extends Error {
  override readonly name: string = "ImprintError";
}

/** The service could not be reached, or its answer could not be read. */
export class ConnectionError extends ImprintError {
  override readonly name: string = "ConnectionError";
}

/** No answer within the time limit of the call. */
export class TimeoutError extends ConnectionError {
  override readonly name: string = "TimeoutError";
}

/** The caller's signal was aborted. */
export class AbortError extends ImprintError {
  override readonly name: string = "AbortError";
}

/** The service refused: `message` is its sentence about this case, `code` one of the catalogue's. */
export class ApiError extends ImprintError {
  override readonly name: string = "ApiError";
  readonly status: number;
  /** Null when something between client and service answered. */
  readonly code: ErrorCode | null;
  readonly detail: string;
  readonly requestId: string | null;
  /** The fields that are wrong, by JSON pointer. */
  readonly errors: NonNullable<Problem["errors"]>;

  constructor(status: number, problem: Partial<Problem>) {
    const detail = problem.detail ?? `The service answered ${status}`;
    super(detail);
    this.status = status;
    this.code = problem.code ?? null;
    this.detail = detail;
    this.requestId = problem.request_id ?? null;
    this.errors = problem.errors ?? [];
  }
}

export class NotFoundError extends ApiError {
  override readonly name: string = "NotFoundError";
}
export class ConflictError extends ApiError {
  override readonly name: string = "ConflictError";
}

/** Problem details, or what OpenAI's shape says of them: `/v1` answers `{error: {message, code}}`, the code in lower case. */
function problemOf(body: unknown): Partial<Problem> {
  if (!isObject(body)) return {};
  if (!isObject(body.error)) return body;
  const { message, code } = body.error;
  return {
    ...(typeof message === "string" && { detail: message }),
    ...(typeof code === "string" && { code: code.toUpperCase() as ErrorCode }),
  };
}

/** The error of an answer that is not 2xx. `body` may be anything. */
export function apiError(status: number, body: unknown): ApiError {
  const Class = status === 404 ? NotFoundError : status === 409 ? ConflictError : ApiError;
  return new Class(status, problemOf(body));
}
