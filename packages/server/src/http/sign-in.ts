import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { Strict } from "@imprint/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { ProblemError } from "../common/error.js";
import type { App } from "./app.js";
import type { Attempts } from "./attempts.js";
import { noContent, problems } from "./schemas.js";

interface SignInOptions {
  readonly port: () => number;
  readonly token: string | null;
  readonly attempts: Attempts;
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Digests have one length: the comparison tells nothing about the secret's. */
export const isSecret = (given: string, secret: string): boolean => timingSafeEqual(digest(given), digest(secret));

// Browsers send a host's cookies to every port of it, so the name holds the port, and the value is not the token itself.
const nameOf = (port: number): string => `imprint-${port}`;
const cookieFor = (token: string): string => createHmac("sha256", token).update("imprint dashboard").digest("base64url");

/** The cookie that a browser got for a token; undefined without one. */
export const cookieOf = (request: FastifyRequest, port: number): string | undefined => {
  const pairs = (request.raw.headers.cookie ?? "").split(";").map((pair) => pair.trim().split("=", 2));
  return pairs.find(([name]) => name === nameOf(port))?.[1];
};

export const isCookieFor = (token: string, cookie: string): boolean => isSecret(cookie, cookieFor(token));

export const SIGN_IN_PATH = "/sign-in";

/** `POST /sign-in` changes the token for a cookie that no script reads and no other site's page sends. */
export const addSignIn = (app: App, { token, port, attempts }: SignInOptions): void => {
  const setCookie = (reply: FastifyReply, value: string): FastifyReply =>
    reply.header("set-cookie", `${nameOf(port())}=${value}; Path=/; HttpOnly; SameSite=Strict`);

  app.post(
    SIGN_IN_PATH,
    {
      schema: {
        tags: ["service"],
        summary: "Change the service's token for the dashboard's cookie",
        body: Strict({ token: Type.String({ minLength: 1, maxLength: 512 }) }),
        response: { 204: noContent("Signed in"), ...problems("UNAUTHORIZED") },
      },
    },
    async (request, reply) => {
      if (token !== null) {
        if (!(await attempts.check(request.ip, isSecret(request.body.token, token))))
          throw new ProblemError("UNAUTHORIZED", "That is not the service's token.");
        setCookie(reply, cookieFor(token));
      }
      return reply.code(204).send();
    },
  );
};
