import type { App } from "../../http/app.js";
import type { Metrics } from "../../metrics/metrics.js";

interface Deps {
  readonly metrics: Metrics;
}

/** `GET /metrics`: what Prometheus reads. */
export const metricsRoute = (app: App, { metrics }: Deps): void => {
  const ok = { description: "Prometheus' text format", content: { "text/plain": { schema: { type: "string" } } } };
  app.get(
    "/metrics",
    { schema: { tags: ["service"], summary: "Figures for Prometheus", response: { 200: ok } } },
    async (_, reply) => reply.type(metrics.contentType).send(await metrics.text()),
  );
};
