import { type Static, Type } from "typebox";
import { ErrorDetail } from "./errors.js";
import { EvaluationVerdict } from "./evaluation.js";
import { AdapterId, JobId, SessionId, Timestamp } from "./ids.js";
import { Interval, OneOf, Strict, smallName, worded } from "./object.js";
import { TrainLoraRequest } from "./training.js";

/** Leaves room for the numbers of its adapters: NAME-1, NAME-2, ... */
export const ProjectName = Type.String({
  ...worded("^[a-z0-9][a-z0-9._-]{0,55}$", smallName(56, "shop")),
  description: "Name of a project: what its adapters' ids begin with",
});

/** The adapter that a project stands by. Ids of adapters have no @, so that neither is taken for the other. */
export const latestOf = (project: string): string => `${project}@latest`;

const { rank, max_length, epochs, within, learning_rate, reasoning, include_unsuccessful, seed, base_model } =
  TrainLoraRequest.properties;

/** What is assumed where a project is silent. */
export const PROJECT_DEFAULTS = { replay_tokens: 20_000, actions: 0 } as const;

const settings = {
  rank,
  max_length,
  epochs,
  within,
  learning_rate,
  reasoning,
  include_unsuccessful,
  replay_tokens: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10_000_000,
      default: PROJECT_DEFAULTS.replay_tokens,
      description: "Tokens of sessions learned before that are trained again, about",
    }),
  ),
  repository: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1024,
      description: "Only recordings of this repository: its name, or its folder where they are imported; a note, as folders are",
    }),
  ),
  actions: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 200,
      default: PROJECT_DEFAULTS.actions,
      description: "Next actions to generate in each evaluation, at most; 0: none",
    }),
  ),
};

/** What a project's runs have in common: what a request says is kept for the next. */
export const ProjectSettings = Strict(settings);
export type ProjectSettings = Static<typeof ProjectSettings>;

/** Body of `POST /projects/{name}/runs`. The first call of a name makes the project. */
export const ProjectRunRequest = Strict({
  session_ids: Type.Optional(
    Type.Array(SessionId, {
      maxItems: 100_000, // not unique: to compare so many takes a second, and one named twice is one
      description: "Stored sessions that belong to the project from now on, beside those that do already",
    }),
  ),
  folders: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), {
      minItems: 1,
      maxItems: 32,
      description: "Where the recordings came from, as a note: the service opens none of them",
    }),
  ),
  base_model,
  seed,
  ...settings,
});
export type ProjectRunRequest = Static<typeof ProjectRunRequest>;

export const PROJECT_RUN_STATUSES = ["training", "evaluating", "completed", "failed", "cancelled", "interrupted"] as const;
export const ProjectRunStatus = OneOf(PROJECT_RUN_STATUSES);
export type ProjectRunStatus = (typeof PROJECT_RUN_STATUSES)[number];

/** Whether a run goes on; every other status is an end. */
export const isRunning = ({ status }: { readonly status: ProjectRunStatus }): boolean =>
  status === "training" || status === "evaluating";

const Count = Type.Integer({ minimum: 0 });
const OrNull = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) => Type.Union([schema, Type.Null()]);

/** What an evaluation measured on the sessions that were held out: losses in nats per token of the agent. */
export const ProjectFigures = Strict({
  tokens: Count,
  base_loss: Type.Number(),
  loss: Type.Number(),
  /** `loss` - `base_loss`, with its 95 % interval. */
  change: Type.Number(),
  interval: OrNull(Interval),
  /** Mean change of the neutral texts' losses, as a share of the base's. */
  neutral_change: Type.Number(),
  /** The adapter that was the latest then, on the same sessions; null where there was none, or it was trained on one of them. */
  before: OrNull(Strict({ adapter_id: AdapterId, change: Type.Number(), interval: OrNull(Interval) })),
});
export type ProjectFigures = Static<typeof ProjectFigures>;

/** One training of a project with its evaluation. */
export const ProjectRun = Strict({
  run: Type.Integer({ minimum: 1 }),
  adapter_id: Type.String({ ...AdapterId, description: "Adapter of the run, once its training is completed" }),
  status: ProjectRunStatus,
  sessions: Strict({
    /** That no adapter up to the latest had learned. */
    new: Count,
    replayed: Count,
    held_out: Type.Array(SessionId),
  }),
  seed: Count,
  /** Jobs are forgotten at a restart; these are their ids all the same. */
  train_job_id: OrNull(JobId),
  evaluate_job_id: OrNull(JobId),
  verdict: OrNull(EvaluationVerdict),
  sentence: OrNull(Type.String()),
  figures: OrNull(ProjectFigures),
  moved: Type.Boolean({ description: "Whether the latest moved to this adapter when the run was completed" }),
  error: OrNull(ErrorDetail),
  created_at: Timestamp,
  finished_at: OrNull(Timestamp),
});
export type ProjectRun = Static<typeof ProjectRun>;

const about = {
  name: ProjectName,
  base_model: Type.String(),
  /** Where its recordings came from, as whoever imported them says. */
  folders: Type.Array(Type.String()),
  settings: ProjectSettings,
  /** What `NAME@latest` means. */
  latest: OrNull(Strict({ adapter_id: AdapterId, moved_at: Timestamp })),
  sessions: Count,
  created_at: Timestamp,
};

/** A project with its newest runs, newest first. */
export const Project = Strict({ ...about, runs: Type.Array(ProjectRun) });
export type Project = Static<typeof Project>;

/** Runs that a project shows. */
export const MAX_SHOWN_RUNS = 200;

/** A project as lists show it. */
export const ProjectSummary = Strict({ ...about, last_run: OrNull(ProjectRun) });
export type ProjectSummary = Static<typeof ProjectSummary>;

export const ProjectList = Strict({ projects: Type.Array(ProjectSummary) });
export type ProjectList = Static<typeof ProjectList>;

/** Answer of `POST /projects/{name}/runs`. `run` is null where there is nothing to train; the sentence says why. */
export const ProjectRunStart = Strict({ run: OrNull(ProjectRun), sentence: Type.String() });
export type ProjectRunStart = Static<typeof ProjectRunStart>;

/** Body of `POST /projects/{name}/rollback`: an adapter of the project or the number of a run; neither: the one before. */
export const RollbackRequest = Strict({ adapter_id: Type.Optional(AdapterId), run: Type.Optional(Type.Integer({ minimum: 1 })) });
export type RollbackRequest = Static<typeof RollbackRequest>;

/**
 * Server-sent events of `GET /projects/{name}/events`, as those of jobs: a snapshot first, then the project at every change of a run
 * or of what is the latest. What happens within a run is told by its jobs' events.
 */
export const ProjectEvent = Type.Union([
  Strict({ type: Type.Literal("snapshot"), project: Project }),
  Strict({ type: Type.Literal("status"), project: Project }),
  Strict({ type: Type.Literal("resync"), reason: Type.String() }),
]);
export type ProjectEvent = Static<typeof ProjectEvent>;
