import { type Static, Type } from "typebox";
import { ErrorCode } from "./errors.js";
import { AdapterId, BaseModelChoice, JobId, SessionId } from "./ids.js";
import { ImprintProof } from "./imprint.js";
import { MemoryPlanOrNull } from "./memory.js";
import { Interval, Strict, worded } from "./object.js";

export const NewAdapterId = Type.String({ ...AdapterId, description: "Id of the new adapter, written once; default: made up" });

export const Metadata = Type.Record(Type.String({ pattern: "^[A-Za-z0-9_.-]{1,64}$" }), Type.String({ maxLength: 512 }), {
  maxProperties: 16,
  additionalProperties: false,
  description: "Notes that the registry keeps with the adapter",
});

/** Whether the service registers an adapter that its verdict says harms. It changes no number of a training. */
export const KeepHarmful = Type.Boolean({
  default: false,
  description: "Register the adapter also when the model is worse with it, marked so",
});

/** Fields that both start calls share. */
const common = {
  task_type: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      ...worded("^[A-Za-z0-9][A-Za-z0-9 _.-]*$", "letters, digits and spaces, no space first"),
      default: "code-gen",
      description: "Kind of work the adapter is for",
    }),
  ),
  adapter_id: Type.Optional(NewAdapterId),
  base_model: Type.Optional(BaseModelChoice),
  seed: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1, description: "Of everything random; default: drawn and recorded" }),
  ),
  metadata: Type.Optional(Metadata),
  keep_harmful: Type.Optional(KeepHarmful),
};

/** Which of a session's agent turns are supervised. `turns` counts the session's steps from 0, as a preview lists them. */
export const TrainOn = Type.Union(
  [
    Type.Literal("all"),
    Type.Literal("successful_steps"),
    Type.Literal("final_answer"),
    Strict({ turns: Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1, maxItems: 10_000, uniqueItems: true }) }),
  ],
  { description: "Turns to learn from: all (default with remember), successful_steps (with learn), final_answer, or some" },
);
export type TrainOn = Static<typeof TrainOn>;

/** What a training is for: `remember` learns its sessions word for word, `learn` what helps on other work. */
export const Profile = Type.Union([Type.Literal("remember"), Type.Literal("learn")], {
  description: "remember the sessions word for word, or learn what transfers; default: learn for several sessions",
});
export type Profile = Static<typeof Profile>;

export const Within = Type.String({
  ...worded("^[1-9][0-9]{0,4}[smh]$", "a time such as 20m, 90s or 2h"),
  description: "Time that the training may take, proof included, such as 20m, 90s or 2h: what does not fit is left out",
});

/** Which part of the sessions is not trained on, so that what transfers can be measured on it. */
export const Holdout = Type.Union(
  [
    Type.Literal("auto"),
    Type.Literal("none"),
    Type.Number({ exclusiveMinimum: 0, maximum: 0.5 }),
    Type.Array(SessionId, { minItems: 1, maxItems: 1000, uniqueItems: true }),
  ],
  { description: "Newest part to test on, never trained on: a share, or sessions; default: auto with learn, none with remember" },
);
export type Holdout = Static<typeof Holdout>;

const WindowLength = Type.Integer({ minimum: 64, maximum: 131072 });

/** What decides the windows of a training: a preview takes these fields too. */
const selection = {
  profile: Type.Optional(Profile),
  holdout: Type.Optional(Holdout),
  max_length: Type.Optional(
    Type.Union([WindowLength, Type.Literal("auto")], { default: "auto", description: "Tokens in a training window" }),
  ),
  train_on: Type.Optional(TrainOn),
  reasoning: Type.Optional(
    Type.Boolean({ default: false, description: "Learn the recorded reasoning too, where the session holds some" }),
  ),
  include_unsuccessful: Type.Optional(Type.Boolean({ default: false, description: "Train on a session that did not succeed" })),
  skip_invalid: Type.Optional(
    Type.Boolean({ description: "Leave out sessions that cannot be trained, by name; default: true for several sessions" }),
  ),
  epochs: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: "Omitted: by the profile" })),
  within: Type.Optional(Within),
};

/** What decides, with the windows, how much memory a training takes. */
const size = {
  rank: Type.Optional(Type.Integer({ minimum: 1, maximum: 256, default: 16, description: "Rank of the update" })),
  target_modules: Type.Optional(
    Type.Array(Type.String(worded("^[A-Za-z0-9_.]{1,64}$", "a layer's name such as q_proj")), {
      minItems: 1,
      maxItems: 32,
      uniqueItems: true,
      description: "Layers that get an update; default: every linear layer but the output head",
    }),
  ),
  quantization: Type.Optional(
    Type.Union([Type.Literal("nf4"), Type.Literal("none")], { description: "Of the frozen base model; default: nf4" }),
  ),
};

const loraFields = {
  session_id: Type.Optional(SessionId),
  session_ids: Type.Optional(
    Type.Array(SessionId, {
      minItems: 1,
      maxItems: 1000,
      uniqueItems: true,
      description: "Several sessions for one adapter, instead of session_id",
    }),
  ),
  ...common,
  ...size,
  alpha: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1024, description: "Default: twice the rank" })),
  learning_rate: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 0.1,
      description: "Peak; default: 0.001 at the default model's width, lower for wider ones",
    }),
  ),
  ...selection,
};

const ofSessions = [{ required: ["session_id"] }, { required: ["session_ids"] }];

/**
 * Body of `POST /train/lora`: exactly one of `session_id`, `session_ids` and `resume_from` is there. Beside `resume_from`,
 * which stands for the request of that job, only the fields of RESUME_FIELDS may stand.
 */
export const TrainLoraRequest = Strict(
  {
    ...loraFields,
    resume_from: Type.Optional(
      Type.String({ ...JobId, description: "Job that was cancelled or failed: its training goes on from its last checkpoint" }),
    ),
  },
  { oneOf: [...ofSessions, { required: ["resume_from"] }] },
);
export type TrainLoraRequest = Static<typeof TrainLoraRequest>;

/** What a resumed training or sweep may be given: nothing that changes its numbers. */
export const RESUME_FIELDS = ["resume_from", "adapter_id", "metadata", "keep_harmful"] as const;

/** Which text a preview shows. */
const shown = {
  window: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000_000, description: "Show the text from this window on, and this one whole" }),
  ),
};

/** Body of `POST /train/lora/preview`. */
export const TrainLoraPreviewRequest = Strict({ ...loraFields, ...shown }, { oneOf: ofSessions });
export type TrainLoraPreviewRequest = Static<typeof TrainLoraPreviewRequest>;

/** Body of `POST /sessions/{id}/preview`. */
export const PreviewRequest = Strict({ base_model: common.base_model, ...size, ...selection, ...shown });
export type PreviewRequest = Static<typeof PreviewRequest>;

/** What is assumed where a request for an imprint is silent. */
export const IMPRINT_DEFAULTS = { max_chunks: 16 } as const;

/** Body of `POST /train/hypernetwork`. Only the first trajectory is used; further ones are named in a warning. */
export const TrainHypernetworkRequest = Strict({
  trajectory_ids: Type.Array(SessionId, { minItems: 1, maxItems: 1000 }),
  ...common,
  max_chunk_length: Type.Optional(
    Type.Integer({ minimum: 16, maximum: 8192, description: "Tokens of the session read at once" }),
  ),
  scaling: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 16,
      description: "Factor on the generated update; default: the best that neutral text allows",
    }),
  ),
  max_chunks: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 256,
      default: IMPRINT_DEFAULTS.max_chunks,
      description: "Of the session, read at most: what matters most goes first",
    }),
  ),
  compress_rank: Type.Optional(Type.Integer({ minimum: 1, maximum: 256, description: "Reduce the adapter to this rank" })),
  include_unsuccessful: selection.include_unsuccessful,
});
export type TrainHypernetworkRequest = Static<typeof TrainHypernetworkRequest>;

/** Answer of both start calls. */
export const StartResponse = Strict({ job_id: Type.String(), status: Type.Literal("queued") });
export type StartResponse = Static<typeof StartResponse>;

/**
 * What a profile assumes where a request is silent. How many epochs it plans, and when it stops, follows from the data:
 * `lora/steps.py` of the trainer.
 */
export const PROFILES = {
  remember: { holdout: "none", train_on: "all" },
  learn: { holdout: "auto", train_on: "successful_steps" },
} as const satisfies Record<Profile, { readonly holdout: Holdout; readonly train_on: TrainOn }>;

/** What is assumed where a request is silent, whatever its profile. */
export const LORA_DEFAULTS = {
  task_type: "code-gen",
  rank: 16,
  alpha_per_rank: 2,
  reasoning: false,
  quantization: "nf4",
} as const;

/** How often something is left out or changed, by its reason. */
export const ReasonCounts = Type.Array(Strict({ reason: Type.String(), count: Type.Integer() }));

/** A session that `skip_invalid` left out, and why. */
export const SkippedSession = Strict({ session_id: SessionId, code: ErrorCode, message: Type.String() });
export type SkippedSession = Static<typeof SkippedSession>;

/** Turns that a session shares with one before it, where they are supervised: here they are context (`shared_turn`). */
export const SharedTurns = Strict({ session_id: SessionId, supervised_in: SessionId, turns: Type.Integer({ minimum: 1 }) });
export type SharedTurns = Static<typeof SharedTurns>;

/** What of the sessions is not learned, and what is learned in another form than it was recorded in. */
export const LeftOutAndChanged = {
  dropped: ReasonCounts,
  changed: ReasonCounts,
  shared: Type.Array(SharedTurns),
  skipped: Type.Array(SkippedSession),
};

/** What held-out losses are measured on; `tokens` with their context. */
export const HeldOutPlan = Strict({
  sessions: Type.Array(SessionId, { minItems: 1 }),
  whole: Type.Boolean({ description: "Whether nothing of these sessions is trained; else the last part of one is held out" }),
  windows: Type.Integer({ minimum: 1 }),
  tokens: Type.Integer({ minimum: 1 }),
  supervised_tokens: Type.Integer({ minimum: 1 }),
});
export type HeldOutPlan = Static<typeof HeldOutPlan>;

/** What a plan and its preview say beside the windows. `held_out` null: no text is. */
export const PlanNotes = {
  held_out: Type.Union([HeldOutPlan, Type.Null()]),
  /** What to know before the start, one sentence each. */
  remarks: Type.Array(Type.String()),
};

/** What will be trained, known before the first step (training-data rules 1-6). */
export const TrainingPlan = Strict({
  seed: Type.Integer(),
  /** At most. Null: until the loss stops improving or the token budget ends. */
  epochs: Type.Union([Type.Integer(), Type.Null()]),
  max_steps: Type.Integer(),
  accumulation: Type.Integer(),
  learning_rate: Type.Number(),
  rank: Type.Integer(),
  alpha: Type.Number(),
  max_length: Type.Integer(),
  target_modules: Type.Array(Type.String()),
  quantization: Type.String(),
  gradient_checkpointing: Type.Boolean({ description: "Activations are made again in the backward pass, for memory's sake" }),
  memory: MemoryPlanOrNull,
  windows: Type.Integer(),
  tokens: Type.Integer(),
  supervised_tokens: Type.Integer(),
  supervised_turns: Type.Integer(),
  ...PlanNotes,
  ...LeftOutAndChanged,
});
export type TrainingPlan = Static<typeof TrainingPlan>;

/** One optimizer step. `loss` is the mean over supervised tokens of the accumulated batch, in nats. */
export const Progress = Strict({
  step: Type.Integer({ minimum: 0 }),
  steps: Type.Integer({ minimum: 0 }),
  epoch: Type.Number({ minimum: 0 }),
  loss: Type.Number(),
  learning_rate: Type.Number(),
  grad_norm: Type.Number(),
  tokens_per_second: Type.Number(),
  /** Of this step alone. */
  supervised_tokens: Type.Integer({ minimum: 0 }),
  eta_seconds: Type.Number({ minimum: 0 }),
  peak_memory_mb: Type.Number({ minimum: 0 }),
  /** The latest, in nats per supervised token; null where nothing is held out. */
  held_out_loss: Type.Union([Type.Number(), Type.Null()]),
});
export type Progress = Static<typeof Progress>;

/** Loss on text that was held out. `interval`: 95 % bootstrap of `loss_after - loss_before`. */
export const HeldOutProof = Strict({
  tokens: Type.Integer({ minimum: 1, description: "Supervised ones" }),
  loss_before: Type.Number(),
  loss_after: Type.Number(),
  interval: Interval,
});
export type HeldOutProof = Static<typeof HeldOutProof>;

/** What the trainer's model says after a fixed prompt of neutral text: the logarithm of the probability that `token` is next. */
export const Probe = Strict({
  prompt: Type.Array(Type.Integer({ minimum: 0 }), { minItems: 1, maxItems: 64, description: "Token ids" }),
  token: Type.Integer({ minimum: 0 }),
  /** Of the token, by itself. */
  text: Type.String(),
  /** Without the adapter and with it. */
  before: Type.Number({ maximum: 0 }),
  after: Type.Number({ maximum: 0 }),
});
export type Probe = Static<typeof Probe>;

/** Evidence taken from the reloaded adapter (training-data rule 9). Losses in nats per token. */
export const Proof = Strict({
  supervised_tokens: Type.Integer({ minimum: 1 }),
  loss_before: Type.Number(),
  loss_after: Type.Number(),
  /** Of an imprint, the mean over the texts of `imprint.neutral`. */
  neutral_loss_before: Type.Number(),
  neutral_loss_after: Type.Number(),
  /** Null: nothing was held out. */
  held_out: Type.Union([HeldOutProof, Type.Null()]),
  keys_expected: Type.Integer({ minimum: 1 }),
  keys_matched: Type.Integer({ minimum: 0 }),
  /** Square root of the summed squared Frobenius norms of scaling * B A over all modules. */
  update_norm: Type.Number({ exclusiveMinimum: 0 }),
  accepted_by: Strict({ peft: Type.Boolean(), vllm: Type.Boolean(), llama_cpp: Type.Boolean() }),
  /** Of an adapter that a hypernetwork made. */
  imprint: Type.Optional(ImprintProof),
  /** What a server that applies the adapter says too. Older proofs have none. */
  probes: Type.Optional(Type.Array(Probe)),
  /** Why a consumer would refuse, one sentence each. */
  remarks: Type.Array(Type.String()),
});
export type Proof = Static<typeof Proof>;
