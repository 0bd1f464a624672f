import { ERRORS } from "@imprint/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { asProblem } from "../../plugins/errors.js";

/** Errors as OpenAI's clients read them, with the same codes and sentences as everywhere else. */
export const sendOpenAiError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  const { code, message, errors, headers } = asProblem(error);
  const status = ERRORS[code].status ?? 500;
  if (status >= 500) request.log.error({ err: error }, code);
  const type = status >= 500 ? "server_error" : "invalid_request_error";
  const param = errors?.[0]?.path.slice(1) ?? null;
  return reply
    .headers(headers)
    .code(status)
    .type("application/json; charset=utf-8")
    .send({ error: { message, type, param, code: code.toLowerCase() } });
};
