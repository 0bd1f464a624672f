import { type Static, Type } from "typebox";
import { Strict } from "./object.js";

/** What ends an agent that goes on: its answers, and the seconds of the clock. */
export const TaskLimits = Strict({
  turns: Type.Integer({ minimum: 1, maximum: 1000, default: 30 }),
  seconds: Type.Integer({ minimum: 1, maximum: 86_400, default: 600 }),
});
export type TaskLimits = Static<typeof TaskLimits>;

/** A state of a repository, what a person asks there, and the command that says whether it was done: a file of `tasks/`. */
export const Task = Strict({
  name: Type.String({ pattern: "^[a-z0-9][a-z0-9-]{0,79}$", description: "Small letters, digits and dashes" }),
  repository: Type.String({ minLength: 1, description: "A folder, relative to the task's file, or the URL of a git repository" }),
  commit: Type.Optional(
    Type.String({ pattern: "^\\w\\S{3,}$", description: "Of a git repository: the state that the agent finds" }),
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
