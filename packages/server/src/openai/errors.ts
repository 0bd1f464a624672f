import { ERRORS } from "@imprint/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { asProblem, endAbandoned, logFault } from "../http/errors.js";

/** OpenAI answers 400 where this service says 422 or 409; its clients send a request again after a 409. */
const statusOf = (status: number | null): number => (status === 422 || status === 409 ? 400 : (status ?? 500));

/** An error as OpenAI's clients read it, with the same codes and sentences as everywhere else. Logs what is the service's fault. */
export const toOpenAiError = (error: unknown, request: FastifyRequest) => {
  const problem = asProblem(error);
  const { code, message, errors, headers } = problem;
  logFault(error, problem, request);
  const status = statusOf(ERRORS[code].status);
  const type = status >= 500 ? "server_error" : "invalid_request_error";
  const param = errors?.[0]?.path.slice(1).replaceAll("/", ".") ?? null;
  return { status, headers, body: { error: { message, type, param, code: code.toLowerCase() } } };
};

export const sendOpenAiError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const ended = endAbandoned(error, request, reply);
  if (ended) return ended;
  const { status, headers, body } = toOpenAiError(error, request);
  return reply.headers(headers).code(status).type("application/json; charset=utf-8").send(body);
};
