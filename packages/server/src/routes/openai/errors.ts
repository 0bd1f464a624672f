import { ERRORS } from "@imprint/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { asProblem, endAbandoned, logFault } from "../../plugins/errors.js";

/** Errors as OpenAI's clients read them, with the same codes and sentences as everywhere else. */
export const sendOpenAiError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const ended = endAbandoned(error, request, reply);
  if (ended) return ended;
  const problem = asProblem(error);
  const { code, message, errors, headers } = problem;
  logFault(error, problem, request);
  const status = ERRORS[code].status ?? 500;
  const type = status >= 500 ? "server_error" : "invalid_request_error";
  const param = errors?.[0]?.path.slice(1) ?? null;
  return reply
    .headers(headers)
    .code(status)
    .type("application/json; charset=utf-8")
    .send({ error: { message, type, param, code: code.toLowerCase() } });
};
