import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from "fastify";
import type { Recorder } from "./conversation/recording/recorder.js";
import type { History } from "./events/history.js";
import type { Streams } from "./events/streams.js";
import type { Jobs } from "./jobs/jobs.js";
import type { Idempotency } from "./kinds/idempotency.js";
import type { Kinds } from "./kinds/index.js";
import type { Randomness } from "./kinds/resolve.js";
import type { Workshop } from "./kinds/workshop.js";
import type { Metrics } from "./metrics/metrics.js";
import type { FineTunes } from "./openai/fine-tunes.js";
import type { Projects } from "./projects/projects.js";
import type { Interactive } from "./runners/runner.js";
import type { Served } from "./runners/served.js";

/** What routes work with. */
export interface Services {
  readonly kinds: Kinds;
  readonly jobs: Jobs;
  readonly history: History;
  readonly streams: Streams;
  readonly metrics: Metrics;
  readonly fineTunes: FineTunes;
  readonly projects: Projects;
  readonly interactive: Interactive;
  /** Null where there is no other server. */
  readonly upstream: Served | null;
  readonly recorder: Recorder;
  readonly workshop: Workshop;
  readonly idempotency: Idempotency;
  readonly random: Randomness;
  /** Aborts, with the reason to give, when the service begins to stop. */
  readonly closing: AbortSignal;
}

/** The Fastify instance, typed by its routes' TypeBox schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
