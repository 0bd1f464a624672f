import type { FastifyInstance } from "fastify";
import type { Metrics } from "./metrics.js";

/** Of a client that left before anything was sent: nginx's "client closed request". */
const CLIENT_CLOSED_REQUEST = 499;

/** Counts requests when they are over, also those whose client left: fastify's onResponse does not hear of these. */
export const addRequestCounter = (app: FastifyInstance, { onRequest }: Pick<Metrics, "onRequest">): void => {
  app.addHook("onRequest", async (request, reply) => {
    reply.raw.once("close", () => {
      const status = reply.raw.headersSent ? reply.raw.statusCode : CLIENT_CLOSED_REQUEST;
      onRequest({ method: request.method, route: request.routeOptions.url ?? "none", status });
    });
  });
};
