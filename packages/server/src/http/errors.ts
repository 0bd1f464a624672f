import { randomUUID } from "node:crypto";
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { ERRORS, type ErrorCode, type Problem } from "@imprint/contracts";
import type { FieldError } from "@imprint/contracts/fields";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { asImprintError, ProblemError, quote } from "../common/error.js";
import { SECURITY_HEADERS } from "./headers.js";

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
const toProblem = (
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

/** What both OpenAI's clients and Anthropic's read of a refusal. */
export const Refusal = Type.Object({ error: Type.Object({ type: Type.String(), message: Type.String() }) });

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

/** What clients of other APIs ask. A path that is refused early, or asks for recording in a wrong way, still has its prefix. */
export const CLIENTS_PATH = /^(?:\/record(?:\/[^/?]+)?)?\/v1(\/messages)?(?:[/?]|$)/;

/** An error as its reader knows it: Anthropic's clients and OpenAI's, who ask under /v1, or everyone else (RFC 9457). */
const errorBody = (problem: ProblemError, { url, requestId }: Asked): ErrorBody => {
  const [asked, messages] = CLIENTS_PATH.exec(url) ?? [];
  if (messages !== undefined) return anthropicBody(problem, requestId);
  if (asked !== undefined) return openAiBody(problem);
  const body = toProblem(problem.code, problem.message, { requestId, errors: problem.errors });
  return { status: body.status, type: "application/problem+json; charset=utf-8", body };
};

/** Node's own refusals in the catalogue's words. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: "REQUEST_INCOMPLETE",
  HPE_HEADER_OVERFLOW: "HEADERS_TOO_LARGE",
};

/** Answers a request that never became one, and ends its connection. */
export const refuseOnSocket = (socket: Socket, code: ErrorCode, url: string): void => {
  const { status, type, body } = errorBody(new ProblemError(code, ERRORS[code].hint), { url, requestId: randomUUID() });
  const text = JSON.stringify(body);
  const headers = { ...SECURITY_HEADERS, "content-type": type, "content-length": Buffer.byteLength(text), connection: "close" };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${text}`, () => socket.destroy());
};

/** What Node cannot read, as Fastify's `clientErrorHandler`. The first line says who asks, when it is in what Node read last. */
export const refuseBrokenRequest = (
  error: Error & { readonly code: string; readonly rawPacket: unknown },
  socket: Socket,
): void => {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const sent = Buffer.isBuffer(error.rawPacket) ? error.rawPacket.toString("latin1", 0, 100) : "";
  const [, url = "/"] = /^[A-Z]+ (\/\S*)/.exec(sent) ?? [];
  refuseOnSocket(socket, CODES[error.code] ?? "BAD_REQUEST", url);
};
