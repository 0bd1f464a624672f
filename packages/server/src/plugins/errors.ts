import { ERRORS, type ErrorCode } from "@imprint/contracts";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { JobError } from "../jobs/job-error.js";
import { ProblemError, quote, toProblem } from "../problem.js";

/** Fastify's own refusals in the catalogue's words. */
const FRAMEWORK: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: "UNSUPPORTED_MEDIA_TYPE",
  FST_ERR_CTP_BODY_TOO_LARGE: "BODY_TOO_LARGE",
};

export const asProblem = (error: unknown): ProblemError => {
  if (error instanceof ProblemError) return error;
  if (error instanceof JobError && error.code !== "INTERNAL_ERROR") {
    const headers = error.code === "QUEUE_FULL" || error.code === "SHUTTING_DOWN" ? { "retry-after": "5" } : {};
    return new ProblemError(error.code, `${error.message} ${error.hint}`, { headers });
  }
  const { code = "", statusCode = 500 } = error as Partial<FastifyError>;
  const known = FRAMEWORK[code];
  if (known) return new ProblemError(known, ERRORS[known].hint);
  if (statusCode >= 400 && statusCode < 500) return new ProblemError("BAD_REQUEST", ERRORS.BAD_REQUEST.hint);
  return new ProblemError("INTERNAL_ERROR", ERRORS.INTERNAL_ERROR.hint);
};

export const sendProblem = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const problem = asProblem(error);
  const body = toProblem(problem.code, problem.message, { requestId: request.id, errors: problem.errors });
  if (body.status >= 500 && problem.code !== "SHUTTING_DOWN") request.log.error({ err: error }, problem.code);
  return reply.headers(problem.headers).code(body.status).type("application/problem+json; charset=utf-8").send(body);
};

type Route = { readonly method: string; readonly pattern: RegExp };

const patternOf = (url: string): RegExp =>
  new RegExp(
    `^${url
      .replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&")
      .replaceAll(/:[A-Za-z_]+/g, "[^/]+")
      .replaceAll("*", ".*")}/?$`,
  );

/** Answers every refusal as problem+json; knows the routes, to tell 405 from 404. */
export const addErrors = (app: FastifyInstance): void => {
  const routes: Route[] = [];
  app.addHook("onRoute", ({ method, url }) => {
    for (const one of [method].flat()) routes.push({ method: one, pattern: patternOf(url) });
  });
  app.setErrorHandler(sendProblem);
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
