import { type Static, Type } from "typebox";
import { AdapterId, AdapterName, SessionId, Sha256, Timestamp } from "./ids.js";
import { Interval, OneOf, Strict } from "./object.js";
import { SkippedSession } from "./training.js";

/** Body of `POST /adapters/{id}/evaluate`. */
export const EvaluateRequest = Strict({
  session_ids: Type.Optional(
    Type.Array(SessionId, {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: "Sessions to test on; default: those that the training held out, else the newest others of the same work",
    }),
  ),
  control_adapter_id: Type.Optional(
    Type.String({ ...AdapterName, description: "Another adapter of the same base model to compare with" }),
  ),
  actions: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 200, default: 50, description: "Next actions to generate, at most; 0: none" }),
  ),
  seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1, default: 0, description: "Of the sampled actions" })),
});
export type EvaluateRequest = Static<typeof EvaluateRequest>;

/** What is assumed where a request is silent: with a seed that is fixed, the same call measures the same. */
export const EVALUATE_DEFAULTS = { actions: 50, seed: 0 } as const;

/**
 * `harms` where neutral text loses more than 10 %; `too_little_to_tell` of fewer than 5 sessions or 2,000 tokens; `helps`: the whole
 * interval of adapter - base is below 0, no median and no measure of the next calls says the opposite, and neutral text loses at most
 * 5 %; `harms`: it is above 0; else `no_evidence`.
 */
export const EvaluationVerdict = OneOf(["helps", "no_evidence", "harms", "too_little_to_tell"]);
export type EvaluationVerdict = Static<typeof EvaluationVerdict>;

/** The last evaluation of an adapter, as lists show it. */
export const EvaluationSummary = Strict({ verdict: EvaluationVerdict, sentence: Type.String(), created_at: Timestamp });
export type EvaluationSummary = Static<typeof EvaluationSummary>;

const Count = Type.Integer({ minimum: 0 });
const Share = Type.Number({ minimum: 0, maximum: 1 });

/** `base`: the base model alone; `adapter`: with the adapter; `control`: with another; `context`: alone, with what was trained on before the session. */
export const EVALUATION_ROWS = ["base", "adapter", "control", "context"] as const;
export const TOKEN_KINDS = ["tool_name", "path", "command", "code", "prose"] as const;

/** Losses in nats per supervised token, `top1` the share of tokens whose likeliest guess is right. */
export const EvaluationRow = Strict({
  row: OneOf(EVALUATION_ROWS),
  /** Of the adapter or the control. */
  adapter_id: Type.Union([AdapterId, Type.Null()]),
  tokens: Count,
  loss: Type.Number(),
  /** Over the tokens, and over the turns' mean losses; absent in evaluations that an earlier version made. */
  median: Type.Optional(Type.Number()),
  median_of_turns: Type.Optional(Type.Number()),
  top1: Share,
  /** The row's loss - the base's; null of the base itself. */
  change: Type.Union([Type.Number(), Type.Null()]),
  interval: Type.Union([Interval, Type.Null()]),
  /** In the order of TOKEN_KINDS; kinds without a token are left out. */
  kinds: Type.Array(Strict({ kind: OneOf(TOKEN_KINDS), tokens: Count, loss: Type.Number(), top1: Share })),
  sessions: Type.Array(Strict({ session_id: SessionId, loss: Type.Number() })),
});
export type EvaluationRow = Static<typeof EvaluationRow>;

/** How many of the sampled next actions parse as a call, name the recorded tool, arguments, file; repeat the call before. */
export const ActionCounts = Strict({ valid_call: Count, same_tool: Count, same_arguments: Count, same_file: Count, loop: Count });
export type ActionCounts = Static<typeof ActionCounts>;

/** What of a session was tested on. */
export const EvaluatedSession = Strict({
  session_id: SessionId,
  sha256: Sha256,
  windows: Count,
  supervised_tokens: Count,
  /** Turns that a session that was trained on shares, left out. */
  dropped_turns: Count,
  near_copy_of: Type.Union([SessionId, Type.Null()]),
});

/** `evaluation.json`, which lies beside an adapter's proof. The same request makes the same bytes on a CPU: it has no time in it. */
export const Evaluation = Strict({
  adapter_id: AdapterId,
  verdict: EvaluationVerdict,
  sentence: Type.String(),
  base_model: Strict({ name: Type.String(), sha256: Sha256 }),
  seed: Count,
  /** Of the bootstrap, in evaluations that an earlier version made. */
  draws: Type.Optional(Count),
  max_length: Type.Integer({ minimum: 1 }),
  sessions: Type.Array(EvaluatedSession),
  skipped: Type.Array(SkippedSession),
  rows: Type.Array(EvaluationRow),
  neutral: Type.Array(Strict({ name: Type.String(), loss_before: Type.Number(), loss_after: Type.Number() })),
  /** Null where none was asked for, or no tested turn calls a tool. P values by McNemar's exact test. */
  actions: Type.Union([
    Strict({
      sampled: Type.Integer({ minimum: 1 }),
      base: ActionCounts,
      adapter: ActionCounts,
      p_values: Strict({ valid_call: Share, same_tool: Share, same_arguments: Share, same_file: Share, loop: Share }),
    }),
    Type.Null(),
  ]),
  versions: Type.Record(Type.String(), Type.String()),
});
export type Evaluation = Static<typeof Evaluation>;

/**
 * How far an evaluation is: `done` of `total` measurements, and what is measured now, in words. Of a training: windows that it and
 * its proof read at most, with the time that is left at most, which is known before the first step ends. Of a pull: bytes.
 */
export const Measuring = Strict({
  done: Count,
  total: Type.Integer({ minimum: 1 }),
  what: Type.String(),
  eta_seconds: Type.Optional(Type.Number({ minimum: 0 })),
});
export type Measuring = Static<typeof Measuring>;
