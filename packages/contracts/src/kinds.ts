import { type Static, type TSchema, type TUnsafe, Type } from "typebox";
import { Evaluation } from "./evaluation.js";
import { EvaluateTask, EvaluationResult } from "./kinds/evaluation.js";
import { ExportedFiles, ExportResult, ExportTask } from "./kinds/export.js";
import { HypernetworkTask } from "./kinds/hypernetwork.js";
import { JobResult } from "./kinds/job-result.js";
import { LoraTask } from "./kinds/lora.js";
import { SweepResult, SweepTask } from "./kinds/sweep.js";
import { OneOf } from "./object.js";
import { Sweep } from "./sweep.js";

/**
 * The kinds of jobs, one line each: the worker's task, what the worker hands over when it is done, and what the job's details
 * show as `result`; Type.Null() of a training, which shows its proof, and Type.Never() of what a kind does without a worker.
 */
export const KINDS = {
  lora: { task: LoraTask, done: JobResult, shown: Type.Null() },
  sweep: { task: SweepTask, done: SweepResult, shown: Sweep },
  hypernetwork: { task: HypernetworkTask, done: JobResult, shown: Type.Null() },
  export: { task: ExportTask, done: ExportResult, shown: ExportedFiles },
  evaluate: { task: EvaluateTask, done: EvaluationResult, shown: Evaluation },
} as const satisfies Record<string, { readonly task: TSchema; readonly done: TSchema; readonly shown: TSchema }>;

export type JobKind = keyof typeof KINDS;
export const JobKind = OneOf(Object.keys(KINDS) as readonly JobKind[]);

type Part = "task" | "done" | "shown";
type AnyOf<P extends Part> = { [K in JobKind]: Static<(typeof KINDS)[K][P]> }[JobKind];

/** A union made by `map` would lose its members: TypeScript takes its type for `never`. */
function anyOf<P extends Part>(part: P): TUnsafe<AnyOf<P>> {
  const distinct = new Map(Object.values(KINDS).map((kind) => [JSON.stringify(kind[part]), kind[part]]));
  return Type.Unsafe<AnyOf<P>>(Type.Union([...distinct.values()]));
}

/** One job's work, fully resolved, as a worker takes it. */
export const WorkerTask = anyOf("task");
export type WorkerTask = Static<typeof WorkerTask>;

/** What a worker hands over when a task is done. */
export const TaskResult = anyOf("done");
export type TaskResult = Static<typeof TaskResult>;

export const ShownResult = anyOf("shown");
export type ShownResult = Static<typeof ShownResult>;
