import type { FastifyInstance, FastifyRequest } from "fastify";
import { ProblemError, quote } from "../common/error.js";
import type { Attempts } from "./attempts.js";
import { isDashboardPath } from "./dashboard.js";
import { cookieOf, isCookieFor, isSecret, SIGN_IN_PATH } from "./sign-in.js";

export interface HostGuardOptions {
  /** Address the service listens on. */
  readonly host: string;
  /** Port it listens on, known once it does. */
  readonly port: () => number;
  /** Further names, each with or without a port. */
  readonly allowHost: readonly string[];
  readonly token: string | null;
}

export interface GuardOptions extends HostGuardOptions {
  readonly attempts: Attempts;
}

/** Reachable without a token: that the process runs, and the dashboard with its way in. */
const isOpen = (path: string): boolean => path === "/health" || path === SIGN_IN_PATH || isDashboardPath(path);

const countHeader = (request: FastifyRequest, name: string): number =>
  request.raw.rawHeaders.filter((entry, at) => at % 2 === 0 && entry.toLowerCase() === name).length;

const bracketed = (host: string): string => (host.includes(":") && !host.startsWith("[") ? `[${host}]` : host);

const allowedHosts = ({ host, port, allowHost }: HostGuardOptions): readonly string[] => {
  const own = ["localhost", "127.0.0.1", "[::1]", bracketed(host)];
  return [
    ...own.map((name) => `${name}:${port()}`),
    ...(port() === 80 ? own : []),
    ...allowHost.flatMap((name) => (/:\d+$/.test(name) ? [name] : [name, `${name}:${port()}`])),
  ];
};

/**
 * Names that lead to the asker's own machine, whoever resolves them: no foreign page can take one. The port is that of whatever forwards
 * to this service: a tunnel, a container, an editor.
 */
const LOOPBACK = /^(?:localhost|127(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}|\[::1\])(?::\d{1,5})?$/;

const checkHost = (request: FastifyRequest, allowed: readonly string[]): void => {
  const { host } = request.raw.headers;
  // An absolute-form request line would override Host; a proxy of the user's rewrites it.
  const whole = countHeader(request, "host") === 1 && request.raw.url?.startsWith("/");
  if (!whole || host === undefined || !(allowed.includes(host) || LOOPBACK.test(host)))
    throw new ProblemError("HOST_NOT_ALLOWED", `This service does not answer for host ${quote(host ?? "")}.`);
};

const checkOrigin = (request: FastifyRequest, allowed: readonly string[]): void => {
  const { origin, host: asked = "" } = request.raw.headers;
  const ours = [asked, ...allowed].some((host) => origin === `http://${host}` || origin === `https://${host}`);
  if (origin !== undefined && !(countHeader(request, "origin") === 1 && ours))
    throw new ProblemError("ORIGIN_NOT_ALLOWED", `Requests from ${quote(origin)} are refused.`);

  const site = request.raw.headers["sec-fetch-site"];
  const opensPage = ["GET", "HEAD"].includes(request.method) && request.raw.headers["sec-fetch-mode"] === "navigate";
  if (site !== undefined && site !== "same-origin" && site !== "none" && !opensPage)
    throw new ProblemError("ORIGIN_NOT_ALLOWED", "Requests that another site's page makes are refused.");
};

const checkToken = async (request: FastifyRequest, token: string, { port, attempts }: GuardOptions): Promise<void> => {
  const [, sent] = /^Bearer ([^\s]+)$/i.exec(request.raw.headers.authorization ?? "") ?? [];
  const key = request.raw.headers["x-api-key"]; // where Anthropic's clients have it
  const bearer = sent ?? (typeof key === "string" ? key : undefined);
  const cookie = cookieOf(request, port());
  const isRight = (bearer !== undefined && isSecret(bearer, token)) || (cookie !== undefined && isCookieFor(token, cookie));
  const isGuess = bearer !== undefined || cookie !== undefined;
  if (!isGuess || !(await attempts.check(request.ip, isRight)))
    throw new ProblemError("UNAUTHORIZED", "Send Authorization: Bearer with the service's token.", {
      headers: { "www-authenticate": "Bearer" },
    });
};

/** Refuses a request that did not come from this machine's programs or this service's own pages. */
export const guard = async (request: FastifyRequest, options: GuardOptions): Promise<void> => {
  const allowed = allowedHosts(options);
  checkHost(request, allowed);
  checkOrigin(request, allowed);
  const path = (request.raw.url ?? "").split("?", 1)[0] ?? "";
  if (options.token !== null && !isOpen(path)) await checkToken(request, options.token, options);
  const encoding = request.raw.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity")
    throw new ProblemError("UNSUPPORTED_MEDIA_TYPE", "Compressed request bodies are not accepted.");
};

/**
 * The first hook of every request. With the JSON-only parsers of strict-json.ts it is the defence against DNS rebinding and
 * cross-site requests: a page can send no request that changes anything without a preflight, and preflights are never answered. The
 * form of POST /v1/files needs none: there a foreign page's Origin and Sec-Fetch-Site, which browsers always send, are what refuses it.
 */
export const addHostGuard = (app: FastifyInstance, options: GuardOptions): void => {
  app.addHook("onRequest", async (request) => guard(request, options));
};
