import type { FastifyInstance } from "fastify";
import type { Metrics } from "./metrics.js";

/** Counts requests when they are over, also those whose client left: fastify's onResponse does not hear of these. */
export const addRequestCounter = (app: FastifyInstance, { onRequest }: Pick<Metrics, "onRequest">): void => {
  app.addHook("onRequest", async (request, reply) => {
    reply.raw.once("close", () => {
      onRequest({ method: request.method, route: request.routeOptions.url ?? "none", status: reply.raw.statusCode });
    });
  });
};
