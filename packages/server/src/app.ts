import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import Fastify, { type FastifyBaseLogger, LogController } from "fastify";
import { addDashboard } from "./plugins/dashboard.js";
import { addDatabaseSession } from "./plugins/database-session.js";
import { addDocsPage } from "./plugins/docs-page.js";
import { addErrors, sendProblem } from "./plugins/errors.js";
import { addHeaders, SECURITY_HEADERS } from "./plugins/headers.js";
import { addHostGuard, guard, type HostGuardOptions } from "./plugins/host-guard.js";
import { addJsonBody } from "./plugins/json-body.js";
import { addOpenApi } from "./plugins/openapi.js";
import { addRequestCounter } from "./plugins/request-counter.js";
import { addSignIn } from "./plugins/sign-in.js";
import { addSilentConnections } from "./plugins/silent-connections.js";
import { compilers } from "./plugins/validation.js";
import { adapterRoutes } from "./routes/adapters/adapters.js";
import { exportRoutes } from "./routes/adapters/exports.js";
import { adapterFilesRoute } from "./routes/adapters/files.js";
import { healthRoute } from "./routes/health/health.js";
import { jobEventRoutes } from "./routes/jobs/events.js";
import { jobRoutes } from "./routes/jobs/jobs.js";
import { salvageRoute } from "./routes/jobs/salvage.js";
import { metricsRoute } from "./routes/metrics/metrics.js";
import { chatRoute } from "./routes/openai/chat.js";
import { filesRoutes } from "./routes/openai/files.js";
import { fineTuningRoutes } from "./routes/openai/fine-tuning.js";
import { modelsRoute } from "./routes/openai/models.js";
import { previewRoute } from "./routes/sessions/preview.js";
import { sessionRoutes } from "./routes/sessions/sessions.js";
import { uploadRoute } from "./routes/sessions/upload.js";
import { trainPreviewRoute } from "./routes/train/preview.js";
import { trainRoutes } from "./routes/train/train.js";
import type { App, Services } from "./services.js";
import { VERSION } from "./version.js";

const HANDLER_TIMEOUT_MS = 30_000;
/** Longer ids than any are still routed, so that they are answered like other unknown ids. */
const MAX_PARAM_LENGTH = 16_384;

export interface AppOptions {
  readonly services: Services;
  readonly access: HostGuardOptions;
  readonly bodyLimit: number;
  readonly log: FastifyBaseLogger;
}

/** The HTTP API as a Fastify instance that listens to nothing. */
export const buildApp = async ({ services, access, bodyLimit, log }: AppOptions): Promise<App> => {
  const app: App = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    handlerTimeout: HANDLER_TIMEOUT_MS,
    requestTimeout: 120_000,
    forceCloseConnections: "idle",
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    http: { requireHostHeader: false },
    schemaController: { compilersFactory: compilers },
    // A URL that cannot be decoded reaches no hook: the guard comes first here too.
    frameworkErrors: (error, request, reply) => {
      reply.headers(SECURITY_HEADERS);
      try {
        guard(request, access);
        sendProblem(error, request, reply);
      } catch (refusal) {
        sendProblem(refusal, request, reply);
      }
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  addSilentConnections(app);
  addRequestCounter(app, services.metrics);
  addErrors(app);
  addHeaders(app);
  addHostGuard(app, access);
  addJsonBody(app);
  addDatabaseSession(app, { database: services.workshop.database });
  addOpenApi(app, { version: VERSION });
  addDocsPage(app);
  addDashboard(app);
  addSignIn(app, access);

  healthRoute(app);
  metricsRoute(app, services);
  trainRoutes(app, services);
  trainPreviewRoute(app, services);
  jobRoutes(app, services);
  jobEventRoutes(app, services);
  salvageRoute(app, services);
  sessionRoutes(app, services);
  uploadRoute(app, services);
  previewRoute(app, services);
  adapterRoutes(app, services);
  adapterFilesRoute(app, services);
  exportRoutes(app, services);
  chatRoute(app, services);
  modelsRoute(app, services);
  filesRoutes(app, services);
  fineTuningRoutes(app, services);
  await app.ready();
  return app;
};
