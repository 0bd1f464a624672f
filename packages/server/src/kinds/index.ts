import type { JobKind } from "@imprint/contracts";
import type { Kind } from "../jobs/kind.js";
import type { App, Services } from "../services.js";
import { createEvaluation } from "./evaluation/kind.js";
import { evaluationRoutes } from "./evaluation/routes.js";
import { createExport } from "./export/kind.js";
import { exportRoutes } from "./export/routes.js";
import { createHypernetwork } from "./hypernetwork/kind.js";
import { hypernetworkRoute } from "./hypernetwork/route.js";
import { createLora } from "./lora/kind.js";
import { loraRoutes } from "./lora/routes.js";
import { createSweep } from "./sweep/kind.js";
import { sweepRoute } from "./sweep/route.js";
import type { Workshop } from "./workshop.js";

interface Entry {
  readonly create: (workshop: Workshop) => Kind;
  readonly routes: (app: App, services: Services) => void;
}

/** The kinds of jobs, one line each. A new one is a folder here, a line here, and a line in the contracts' KINDS. */
const KINDS = {
  lora: { create: createLora, routes: loraRoutes },
  sweep: { create: createSweep, routes: sweepRoute },
  hypernetwork: { create: createHypernetwork, routes: hypernetworkRoute },
  export: { create: createExport, routes: exportRoutes },
  evaluate: { create: createEvaluation, routes: evaluationRoutes },
} as const satisfies Record<JobKind, Entry>;

export type Kinds = { readonly [K in JobKind]: ReturnType<(typeof KINDS)[K]["create"]> };

/** What starts a job of each kind. */
export type Start = {
  [K in JobKind]: {
    readonly kind: K;
    readonly request: Parameters<Kinds[K]["reserves"]>[0];
    readonly warnings?: readonly string[];
  };
}[JobKind];

export const createKinds = (workshop: Workshop): Kinds =>
  Object.fromEntries(Object.entries(KINDS).map(([name, { create }]) => [name, create(workshop)])) as unknown as Kinds;

export const kindRoutes = (app: App, services: Services): void => {
  for (const { routes } of Object.values(KINDS)) routes(app, services);
};
