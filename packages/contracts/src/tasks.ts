import { type Static, Type } from "typebox";
import { AdapterId, SessionId, Sha256 } from "./ids.js";
import { Interval, OneOf, Strict, worded } from "./object.js";

/** What ends an agent that goes on: its answers, and the seconds of the clock. */
export const TaskLimits = Strict({
  turns: Type.Integer({ minimum: 1, maximum: 1000, default: 30 }),
  seconds: Type.Integer({ minimum: 1, maximum: 86_400, default: 600 }),
});
export type TaskLimits = Static<typeof TaskLimits>;

/** A state of a repository, what a person asks there, and the command that says whether it was done: a file of `tasks/`. */
export const Task = Strict({
  name: Type.String(worded("^[a-z0-9][a-z0-9-]{0,79}$", "small letters, digits and dashes, at most 80 characters")),
  repository: Type.String({ minLength: 1, description: "A folder, relative to the task's file, or the URL of a git repository" }),
  commit: Type.Optional(
    Type.String({
      ...worded("^\\w\\S{3,}$", "a commit's name, such as 39f2063f23c2"),
      description: "Of a git repository: the state that the agent finds",
    }),
  ),
  prompt: Type.String({ minLength: 1, description: "What a person asks" }),
  check: Type.String({ minLength: 1, description: "Run by sh in the result; its exit code 0 means solved" }),
  check_files: Type.Optional(
    Type.Record(Type.String({ minLength: 1 }), Type.String(), {
      description: "Files, by their paths, that are laid over the result before the check: the agent cannot have changed them",
    }),
  ),
  family: Type.Optional(Type.String({ minLength: 1, description: "The kind of work, by which results are grouped" })),
  solution: Type.Optional(Type.String({ minLength: 1, description: "A patch that git applies: with it the check must pass" })),
  limits: Type.Optional(TaskLimits),
});
export type Task = Static<typeof Task>;

/** Where a task names none. */
export const TASK_LIMITS: TaskLimits = { turns: 30, seconds: 600 };

/** `base`: the base model alone; `adapter`: with the adapter; `session`: alone, the most similar trained session ahead of what is asked; `control`: with another adapter. */
export const TASK_ROWS = ["base", "adapter", "session", "control"] as const;
export type TaskRowName = (typeof TASK_ROWS)[number];

/**
 * `solved`: the check passed, however the agent ended; `limit`: turns, seconds, memory or the context ran out; `error`: the agent could
 * not work; `no_call`: it called no tool and changed nothing; `wrong_file`: it changed no file that the solution changes; else `check_failed`.
 */
export const TASK_OUTCOMES = ["solved", "check_failed", "wrong_file", "no_call", "limit", "error"] as const;
export const TaskOutcome = OneOf(TASK_OUTCOMES);
export type TaskOutcome = (typeof TASK_OUTCOMES)[number];

const Count = Type.Integer({ minimum: 0 });
const Share = Type.Number({ minimum: 0, maximum: 1 });

/** One agent at one task. Tokens are those of all its requests together. */
export const TaskRun = Strict({
  task: Task.properties.name,
  row: OneOf(TASK_ROWS),
  seed: Count,
  outcome: TaskOutcome,
  /** What ended it, in a line; null where the outcome says all. */
  detail: Type.Union([Type.String({ maxLength: 500 }), Type.Null()]),
  turns: Count,
  prompt_tokens: Count,
  completion_tokens: Count,
  seconds: Type.Number({ minimum: 0 }),
  /** Its conversation; null where none was recorded. */
  session_id: Type.Union([SessionId, Type.Null()]),
});
export type TaskRun = Static<typeof TaskRun>;

/** A task as it was measured. */
export const MeasuredTask = Strict({
  name: Task.properties.name,
  /** Of all that the task's file says: a changed task is another one. */
  sha256: Sha256,
  family: Type.Union([Type.String({ minLength: 1 }), Type.Null()]),
  prompt: Task.properties.prompt,
  /** The trained session that the row `session` reads; null where none is left. */
  session_id: Type.Union([SessionId, Type.Null()]),
});
export type MeasuredTask = Static<typeof MeasuredTask>;

/** Body of `PUT /adapters/{id}/tasks`: what was measured so far. What it means the service says. */
export const TaskMeasurements = Strict({
  agent: Type.String({ pattern: "^[a-z0-9][a-z0-9-]{0,39}$" }),
  control_adapter_id: Type.Union([AdapterId, Type.Null()]),
  /** Times that each row tries each task: first always with the likeliest token, then sampled. */
  seeds: Type.Integer({ minimum: 1, maximum: 100 }),
  tasks: Type.Array(MeasuredTask, { minItems: 1, maxItems: 1000 }),
  runs: Type.Array(TaskRun, { maxItems: 100_000 }),
});
export type TaskMeasurements = Static<typeof TaskMeasurements>;

/** `solves_more` and `solves_less`: p < 0.05, and the whole interval of adapter - base is on that side of 0; `too_little_to_tell` of fewer than 6 tasks. */
export const TaskVerdict = OneOf(["solves_more", "no_evidence", "solves_less", "too_little_to_tell"]);
export type TaskVerdict = Static<typeof TaskVerdict>;

/** Intervals over tasks, 95 %: they stay wide where few tasks all ended the same way. */
export const TaskRowFigures = Strict({
  row: OneOf(TASK_ROWS),
  solved: Count,
  of: Count,
  /** Of the share solved; null before the first run. */
  interval: Type.Union([Interval, Type.Null()]),
  /** Share solved - the base's, of the tasks that both have tried; null of the base itself. */
  change: Type.Union([Type.Number({ minimum: -1, maximum: 1 }), Type.Null()]),
  change_interval: Type.Union([Interval, Type.Null()]),
  /** By McNemar's exact test against the base; of several seeds, on which of the two solved a task more often. */
  p_value: Type.Union([Share, Type.Null()]),
});
export type TaskRowFigures = Static<typeof TaskRowFigures>;

const Summary = { verdict: Type.Union([TaskVerdict, Type.Null()]), sentence: Type.String() };

/** `tasks.json`, which lies beside an adapter's proof. The verdict is null until every run is there. */
export const TaskReport = Strict({
  adapter_id: AdapterId,
  base_model: Type.String(),
  ...TaskMeasurements.properties,
  rows: Type.Array(TaskRowFigures),
  ...Summary,
});
export type TaskReport = Static<typeof TaskReport>;

/** The same, as lists show it: what the adapter solved. */
export const TaskSummary = Strict({ ...Summary, solved: Count, of: Count });
export type TaskSummary = Static<typeof TaskSummary>;
