import type { JobKind } from "@imprint/contracts";
import type { Kind } from "../jobs/kind.js";
import type { KindDeps } from "./deps.js";
import { createEvaluation } from "./evaluation/kind.js";
import { createExport } from "./export/kind.js";
import { createHypernetwork } from "./hypernetwork/kind.js";
import { createLora } from "./lora/kind.js";
import { createPull } from "./pull/kind.js";
import { createSweep } from "./sweep/kind.js";

/** The kinds of jobs, one line each. A new one is a folder here, a line here, and a line in the contracts' KINDS. */
const KINDS = {
  lora: createLora,
  sweep: createSweep,
  hypernetwork: createHypernetwork,
  export: createExport,
  evaluate: createEvaluation,
  pull: createPull,
} as const satisfies Record<JobKind, (deps: KindDeps) => Kind>;

export type Kinds = { readonly [K in JobKind]: ReturnType<(typeof KINDS)[K]> };

/** What starts a job of each kind. */
export type Start = {
  [K in JobKind]: {
    readonly kind: K;
    readonly request: Parameters<Kinds[K]["reserves"]>[0];
    readonly warnings?: readonly string[];
  };
}[JobKind];

export const createKinds = (deps: KindDeps): Kinds =>
  Object.fromEntries(Object.entries(KINDS).map(([name, create]) => [name, create(deps)])) as unknown as Kinds;
