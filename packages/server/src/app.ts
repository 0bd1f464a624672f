import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import { VERSION } from "@imprint/contracts";
import Fastify, { type FastifyBaseLogger, LogController } from "fastify";
import type { ChatEngineName } from "./chat/choose.js";
import type { Preparing } from "./chat/preparing.js";
import { stripRecordPrefix } from "./chat/recording/requested.js";
import type { ChatService } from "./chat/service.js";
import type { Clock } from "./common/clock.js";
import type { History } from "./events/history.js";
import type { Streams } from "./events/streams.js";
import type { App } from "./http/app.js";
import { createAttempts } from "./http/attempts.js";
import { addDashboard } from "./http/dashboard.js";
import { addDeadlines } from "./http/deadline.js";
import { addDocsPage } from "./http/docs-page.js";
import { addErrors, refuseBrokenRequest, sendError } from "./http/errors.js";
import { addHeaders, SECURITY_HEADERS } from "./http/headers.js";
import { addHostGuard, guard, type HostGuardOptions } from "./http/host-guard.js";
import { addOpenApi } from "./http/openapi.js";
import { addRequestCounter } from "./http/request-counter.js";
import { compilers } from "./http/schemas.js";
import { addHeadAnswers } from "./http/send-file.js";
import { addSignIn } from "./http/sign-in.js";
import { addSilentConnections } from "./http/silent-connections.js";
import { addStallGuard } from "./http/stall-guard.js";
import { addJsonBody } from "./http/strict-json.js";
import { addTransactions } from "./http/transaction.js";
import type { Jobs } from "./jobs/jobs.js";
import type { KindDeps } from "./kinds/deps.js";
import type { Kinds } from "./kinds/index.js";
import type { Randomness } from "./kinds/resolve.js";
import type { Idempotency } from "./launch/idempotency.js";
import type { Metrics } from "./metrics/metrics.js";
import type { Projects } from "./projects/projects.js";
import { adapterRoutes } from "./routes/adapters/adapters.js";
import { evaluationRoutes } from "./routes/adapters/evaluation.js";
import { exportRoutes } from "./routes/adapters/export.js";
import { adapterFilesRoute } from "./routes/adapters/files.js";
import { taskRoutes } from "./routes/adapters/tasks.js";
import { anthropicRoutes } from "./routes/anthropic/messages.js";
import type { FineTunes } from "./routes/fine-tuning/fine-tunes.js";
import { fineTuningRoutes } from "./routes/fine-tuning/fine-tuning.js";
import { jobEventRoutes } from "./routes/jobs/events.js";
import { jobRoutes } from "./routes/jobs/jobs.js";
import { salvageRoute } from "./routes/jobs/salvage.js";
import { baseModelRoutes } from "./routes/models.js";
import { chatRoute } from "./routes/openai/chat.js";
import { modelsRoutes } from "./routes/openai/models.js";
import { responsesRoute } from "./routes/openai/responses.js";
import { projectRoutes } from "./routes/projects/projects.js";
import { serviceRoutes } from "./routes/service/service.js";
import { previewRoute } from "./routes/sessions/preview.js";
import { sessionRoutes } from "./routes/sessions/sessions.js";
import { uploadRoute } from "./routes/sessions/upload.js";
import { hypernetworkRoute } from "./routes/train/hypernetwork.js";
import { loraRoutes } from "./routes/train/lora.js";
import { trainPreviewRoute } from "./routes/train/preview.js";
import { sweepRoute } from "./routes/train/sweep.js";
import type { Interactive } from "./runners/runner.js";
import type { Served } from "./runners/served.js";

/** What routes work with. */
interface Services {
  readonly kinds: Kinds;
  readonly jobs: Jobs;
  readonly history: History;
  readonly streams: Streams;
  readonly metrics: Metrics;
  readonly fineTunes: FineTunes;
  readonly projects: Projects;
  readonly interactive: Interactive;
  readonly chat: ChatService;
  readonly preparing: Preparing;
  /** Null where there is no other server. */
  readonly upstream: Served | null;
  /** Who answers chats with a base model of this type. */
  readonly engineOf: (type: string | null) => ChatEngineName;
  readonly deps: KindDeps;
  readonly idempotency: Idempotency;
  readonly random: Randomness;
  /** Aborts, with the reason to give, when the service begins to stop. */
  readonly closing: AbortSignal;
}

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
  addHeadAnswers(app);
  addTransactions(app, { database: services.deps.database });
  addOpenApi(app, { version: VERSION });
  addDocsPage(app);
  addDashboard(app);
  addSignIn(app, guarded);

  serviceRoutes(app, services);
  loraRoutes(app, services);
  sweepRoute(app, services);
  hypernetworkRoute(app, services);
  trainPreviewRoute(app, services);
  jobRoutes(app, services);
  salvageRoute(app, services);
  jobEventRoutes(app, services);
  sessionRoutes(app, services);
  uploadRoute(app, services);
  previewRoute(app, services);
  adapterRoutes(app, services);
  adapterFilesRoute(app, services);
  exportRoutes(app, services);
  evaluationRoutes(app, services);
  taskRoutes(app, services);
  projectRoutes(app, services);
  chatRoute(app, services);
  responsesRoute(app, services);
  modelsRoutes(app, services);
  baseModelRoutes(app, services);
  anthropicRoutes(app, services);
  fineTuningRoutes(app, services);
  await app.ready();
  return app;
};
