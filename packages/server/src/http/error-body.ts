import { ERRORS } from "@imprint/contracts";
import type { ProblemError } from "../common/error.js";
import { toProblem } from "./problem.js";

export interface ErrorBody {
  readonly status: number;
  readonly type: string;
  readonly body: object;
}

interface Asked {
  /** Path of the request, with or without its query. */
  readonly url: string;
  readonly requestId: string;
}

/** OpenAI answers 400 where this service says 422 or 409; its clients send a request again after a 409. */
const openAiStatus = (status: number | null): number => (status === 422 || status === 409 ? 400 : (status ?? 500));

const openAiBody = ({ code, message, errors }: ProblemError): ErrorBody => {
  const status = openAiStatus(ERRORS[code].status);
  const type = status >= 500 ? "server_error" : "invalid_request_error";
  const param = errors?.[0]?.path.slice(1).replaceAll("/", ".") ?? null;
  const error = { message: message || ERRORS[code].hint, type, param, code: code.toLowerCase() };
  return { status, type: "application/json; charset=utf-8", body: { error } };
};

const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
};

const anthropicBody = ({ code, message }: ProblemError, requestId: string): ErrorBody => {
  const status = openAiStatus(ERRORS[code].status);
  const type = ANTHROPIC_TYPES[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
  const body = { type: "error", error: { type, message: message || ERRORS[code].hint }, request_id: requestId };
  return { status, type: "application/json; charset=utf-8", body };
};

/** An error as its reader knows it: Anthropic's clients and OpenAI's, who ask under /v1, or everyone else (RFC 9457). */
export const errorBody = (problem: ProblemError, { url, requestId }: Asked): ErrorBody => {
  if (/^\/v1\/messages(?:[/?]|$)/.test(url)) return anthropicBody(problem, requestId);
  if (/^\/v1(?:[/?]|$)/.test(url)) return openAiBody(problem);
  const body = toProblem(problem.code, problem.message, { requestId, errors: problem.errors });
  return { status: body.status, type: "application/problem+json; charset=utf-8", body };
};
