import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import Fastify, { type FastifyBaseLogger, LogController } from "fastify";
import { messagesRoutes } from "./anthropic/messages.js";
import type { Clock } from "./common/clock.js";
import { VERSION } from "./common/version.js";
import { createDesk } from "./conversation/desk.js";
import { stripRecordPrefix } from "./conversation/recording/requested.js";
import { createAttempts } from "./http/attempts.js";
import { refuseBrokenRequest } from "./http/broken-request.js";
import { addDashboard } from "./http/dashboard.js";
import { addDeadlines } from "./http/deadline.js";
import { addDocsPage } from "./http/docs-page.js";
import { addErrors, sendError } from "./http/errors.js";
import { addHeaders, SECURITY_HEADERS } from "./http/headers.js";
import { addHostGuard, guard, type HostGuardOptions } from "./http/host-guard.js";
import { addOpenApi } from "./http/openapi.js";
import { addRequestCounter } from "./http/request-counter.js";
import { addSignIn } from "./http/sign-in.js";
import { addSilentConnections } from "./http/silent-connections.js";
import { addStallGuard } from "./http/stall-guard.js";
import { addJsonBody } from "./http/strict-json.js";
import { addTransactions } from "./http/transaction.js";
import { compilers } from "./http/validation.js";
import { kindRoutes } from "./kinds/index.js";
import { trainPreviewRoute } from "./kinds/lora/preview.js";
import { chatRoute } from "./openai/chat.js";
import { filesRoutes } from "./openai/files.js";
import { fineTuningRoutes } from "./openai/fine-tuning.js";
import { modelsRoute } from "./openai/models.js";
import { responsesRoute } from "./openai/responses.js";
import { projectRoutes } from "./projects/routes.js";
import { adapterRoutes } from "./routes/adapters/adapters.js";
import { adapterFilesRoute } from "./routes/adapters/files.js";
import { healthRoute } from "./routes/health/health.js";
import { jobEventRoutes } from "./routes/jobs/events.js";
import { jobRoutes } from "./routes/jobs/jobs.js";
import { metricsRoute } from "./routes/metrics/metrics.js";
import { previewRoute } from "./routes/sessions/preview.js";
import { sessionRoutes } from "./routes/sessions/sessions.js";
import { uploadRoute } from "./routes/sessions/upload.js";
import type { App, Services } from "./services.js";

/** Longer ids than any are still routed, so that they are answered like other unknown ids. */
const MAX_PARAM_LENGTH = 16_384;

export interface AppOptions {
  readonly services: Services;
  readonly access: HostGuardOptions;
  readonly bodyLimit: number;
  readonly log: FastifyBaseLogger;
  readonly clock: Clock;
}

/** The HTTP API as a Fastify instance that listens to nothing. */
export const buildApp = async ({ services, access, bodyLimit, log, clock }: AppOptions): Promise<App> => {
  const guarded = { ...access, attempts: createAttempts({ clock }) };
  const app: App = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit,
    // How long a body may take is the stall guard's to say; the headers have Node's own limit.
    requestTimeout: 0,
    clientErrorHandler: refuseBrokenRequest,
    forceCloseConnections: "idle",
    rewriteUrl: stripRecordPrefix,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    http: { requireHostHeader: false },
    schemaController: { compilersFactory: compilers },
    // A URL that cannot be decoded reaches no hook: the guard comes first here too.
    frameworkErrors: (error, request, reply) => {
      reply.headers(SECURITY_HEADERS);
      void guard(request, guarded).then(
        () => sendError(error, request, reply),
        (refusal) => sendError(refusal, request, reply),
      );
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  addSilentConnections(app);
  addDeadlines(app, { clock });
  addStallGuard(app, { clock });
  addRequestCounter(app, services.metrics);
  addErrors(app);
  addHeaders(app);
  addHostGuard(app, guarded);
  addJsonBody(app);
  addTransactions(app, { database: services.workshop.database });
  addOpenApi(app, { version: VERSION });
  addDocsPage(app);
  addDashboard(app);
  addSignIn(app, guarded);

  healthRoute(app);
  metricsRoute(app, services);
  kindRoutes(app, services);
  trainPreviewRoute(app, services);
  jobRoutes(app, services);
  jobEventRoutes(app, services);
  sessionRoutes(app, services);
  uploadRoute(app, services);
  previewRoute(app, services);
  adapterRoutes(app, services);
  adapterFilesRoute(app, services);
  projectRoutes(app, services);
  const desk = createDesk(services, { clock });
  chatRoute(app, desk);
  responsesRoute(app, desk);
  messagesRoutes(app, desk);
  modelsRoute(app, services);
  filesRoutes(app, services);
  fineTuningRoutes(app, services);
  await app.ready();
  return app;
};
