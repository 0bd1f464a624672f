import { type Static, type TSchema, type TUnsafe, Type } from "typebox";
import { Evaluation } from "./evaluation.js";
import { EvaluateTask, EvaluationResult } from "./kinds/evaluation.js";
import { ExportedFiles, ExportResult, ExportTask } from "./kinds/export.js";
import { HypernetworkTask } from "./kinds/hypernetwork.js";
import { JobResult } from "./kinds/job-result.js";
import { LoraTask } from "./kinds/lora.js";
import { SweepResult, SweepTask } from "./kinds/sweep.js";
import { PulledModel } from "./models.js";
import { OneOf } from "./object.js";
import { Sweep } from "./sweep.js";

/**
 * The kinds of jobs that a worker does, one line each: its task, what it hands over when it is done, and what the job's details
 * show as `result`; Type.Null() of a training, which shows its proof.
 */
export const WORKER_KINDS = {
  lora: { task: LoraTask, done: JobResult, shown: Type.Null() },
  sweep: { task: SweepTask, done: SweepResult, shown: Sweep },
  hypernetwork: { task: HypernetworkTask, done: JobResult, shown: Type.Null() },
  export: { task: ExportTask, done: ExportResult, shown: ExportedFiles },
  evaluate: { task: EvaluateTask, done: EvaluationResult, shown: Evaluation },
} as const satisfies Record<string, { readonly task: TSchema; readonly done: TSchema; readonly shown: TSchema }>;

/** All kinds of jobs: those and what the service does by itself. */
const KINDS = { ...WORKER_KINDS, pull: { shown: PulledModel } } as const;

export type JobKind = keyof typeof KINDS;
export const JobKind = OneOf(Object.keys(KINDS) as readonly JobKind[]);

type Kinds<P extends string> = Readonly<Record<string, { readonly [K in P]: TSchema }>>;
type AnyOf<P extends string, K extends Kinds<P>> = Static<K[keyof K][P]>;

/** A union made by `map` would lose its members: TypeScript takes its type for `never`. */
function anyOf<P extends string, K extends Kinds<P>>(kinds: K, part: P): TUnsafe<AnyOf<P, K>> {
  const distinct = new Map(Object.values(kinds).map((kind) => [JSON.stringify(kind[part]), kind[part]]));
  return Type.Unsafe<AnyOf<P, K>>(Type.Union([...distinct.values()]));
}

/** One job's work, fully resolved, as a worker takes it. */
export const WorkerTask = anyOf(WORKER_KINDS, "task");
export type WorkerTask = Static<typeof WorkerTask>;

/** What a worker hands over when a task is done. */
export const TaskResult = anyOf(WORKER_KINDS, "done");
export type TaskResult = Static<typeof TaskResult>;

export const ShownResult = anyOf(KINDS, "shown");
export type ShownResult = Static<typeof ShownResult>;
