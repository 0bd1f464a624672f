import { ERRORS, type ErrorCode } from "@imprint/contracts";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { asImprintError, ProblemError, quote } from "../common/error.js";
import { type ErrorBody, errorBody } from "./error-body.js";
import { CLIENT_CLOSED_REQUEST, ClientGoneError } from "./problem.js";

/** Fastify's own refusals in the catalogue's words. */
const FRAMEWORK: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "UNSUPPORTED_MEDIA_TYPE",
  FST_ERR_CTP_BODY_TOO_LARGE: "BODY_TOO_LARGE",
};

/** What is over in a while. */
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "QUEUE_FULL",
  "SHUTTING_DOWN",
  "TOO_MANY_STREAMS",
  "UPSTREAM_BUSY",
  "UPSTREAM_UNREACHABLE",
]);

const asProblem = (error: unknown): ProblemError => {
  if (error instanceof ProblemError) return error;
  const known = asImprintError(error);
  if (known.code !== "INTERNAL_ERROR") {
    const headers = PASSING.has(known.code) ? { "retry-after": String(known.retryAfter ?? 5) } : {};
    return new ProblemError(known.code, `${known.message} ${known.hint}`, { headers });
  }
  const { code = "", statusCode = 500 } = error as Partial<FastifyError>;
  const refused = FRAMEWORK[code];
  if (refused) return new ProblemError(refused, ERRORS[refused].hint);
  if (statusCode >= 400 && statusCode < 500) return new ProblemError("BAD_REQUEST", ERRORS.BAD_REQUEST.hint);
  return new ProblemError("INTERNAL_ERROR", ERRORS.INTERNAL_ERROR.hint);
};

const endAbandoned = (error: ClientGoneError, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  request.log.debug({ method: request.method, url: request.url }, error.message);
  return reply.code(CLIENT_CLOSED_REQUEST).send();
};

/** Logs what is the service's own fault, and nothing else. */
const logFault = (error: unknown, { code }: ProblemError, request: FastifyRequest): void => {
  if ((ERRORS[code].status ?? 500) >= 500 && code !== "SHUTTING_DOWN") request.log.error({ err: error }, code);
};

/** What is said of an error to whoever made the request. */
export const describeError = (error: unknown, request: FastifyRequest): ErrorBody & Pick<ProblemError, "headers"> => {
  const problem = asProblem(error);
  logFault(error, problem, request);
  const url = request.routeOptions.url ?? request.url;
  return { ...errorBody(problem, { url, requestId: request.id }), headers: problem.headers };
};

export const sendError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  if (error instanceof ClientGoneError) return endAbandoned(error, request, reply);
  const { status, type, headers, body } = describeError(error, request);
  return reply.headers(headers).code(status).type(type).send(body);
};

type Route = { readonly method: string; readonly pattern: RegExp };

const patternOf = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&")
      .replaceAll(/:[A-Za-z_]+/g, "[^/]+")
      .replaceAll("*", ".*")}/?$`,
  );

/** Answers every refusal as an error body; knows the routes, to tell 405 from 404. */
export const addErrors = (app: FastifyInstance): void => {
  const routes: Route[] = [];
  app.addHook("onRoute", ({ method, url }) => {
    for (const one of [method].flat()) routes.push({ method: one, pattern: patternOf(url) });
  });
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request) => {
    const path = request.url.split("?", 1)[0] ?? "";
    const allowed = [...new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))].sort();
    if (allowed.length === 0 || allowed.includes(request.method))
      throw new ProblemError("NOT_FOUND", `There is nothing at ${quote(path)}.`);
    throw new ProblemError("METHOD_NOT_ALLOWED", `${request.method} is not allowed here; use ${allowed.join(", ")}.`, {
      headers: { allow: allowed.join(", ") },
    });
  });
};
