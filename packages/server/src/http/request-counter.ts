import type { FastifyInstance } from "fastify";
import { CLIENT_CLOSED_REQUEST } from "./errors.js";

interface CountedRequest {
  readonly method: string;
  readonly route: string;
  readonly status: number;
}

/** Counts requests when they are over, also those whose client left: fastify's onResponse does not hear of these. */
export const addRequestCounter = (
  app: FastifyInstance,
  { onRequest }: { readonly onRequest: (request: CountedRequest) => void },
): void => {
  app.addHook("onRequest", async (request, reply) => {
    reply.raw.once("close", () => {
      const status = reply.raw.headersSent ? reply.raw.statusCode : CLIENT_CLOSED_REQUEST;
      onRequest({ method: request.method, route: request.routeOptions.url ?? "none", status });
    });
  });
};
