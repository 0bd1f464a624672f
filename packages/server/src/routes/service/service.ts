import { Health, VERSION } from "@imprint/contracts";
import type { Preparing } from "../../chat/preparing.js";
import type { App } from "../../http/app.js";
import { answer } from "../../http/schemas.js";
import type { Metrics } from "../../metrics/metrics.js";

interface Deps {
  readonly metrics: Metrics;
  readonly preparing: Preparing;
}

/** Whether the service runs, and what Prometheus reads of it. */
export const serviceRoutes = (app: App, { metrics, preparing }: Deps): void => {
  app.get(
    "/health",
    { schema: { tags: ["service"], summary: "Whether the process runs", response: { 200: answer("It runs", Health) } } },
    async () => ({ status: "healthy", service: "imprint", version: VERSION, preparing: preparing.now() }) as const,
  );

  const ok = { description: "Prometheus' text format", content: { "text/plain": { schema: { type: "string" } } } };
  app.get(
    "/metrics",
    { schema: { tags: ["service"], summary: "Figures for Prometheus", response: { 200: ok } } },
    async (_, reply) => reply.type(metrics.contentType).send(await metrics.text()),
  );
};
