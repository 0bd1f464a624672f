import { type Static, Type } from "typebox";
import { Interval, Strict } from "./object.js";

/** `halving`: the trials whose held-out loss is in the worse half are stopped on the way: docs/training.md. */
export const EarlyStopping = Type.Union([Type.Literal("halving"), Type.Literal("none")], {
  default: "halving",
  description: "Stop the worse half of the trials on the way, or train all to their end",
});
export type EarlyStopping = Static<typeof EarlyStopping>;

/**
 * Where a trial is. `stopped`: in the worse half; `finished`: to its end; `failed`: its loss became NaN or infinite.
 */
export const TRIAL_STATES = ["waiting", "training", "paused", "stopped", "finished", "failed"] as const;

const Loss = Type.Number();
const LossOrNull = Type.Union([Loss, Type.Null()]);

/** One trial of a sweep. Losses in nats per supervised token of the text that chooses. */
export const Trial = Strict({
  trial: Type.Integer({ minimum: 1, description: "Its number, in the order of the request" }),
  rank: Type.Integer(),
  alpha: Type.Number(),
  learning_rate: Type.Number(),
  epochs: Type.Integer({ minimum: 1 }),
  steps: Type.Integer({ minimum: 0, description: "Optimizer steps that were run" }),
  max_steps: Type.Integer({ minimum: 1 }),
  state: Type.Union(TRIAL_STATES.map((state) => Type.Literal(state))),
  /** Held-out losses on the way: before the first step, after each pass, and where halves are stopped. */
  curve: Type.Array(Strict({ step: Type.Integer({ minimum: 0 }), loss: Loss })),
  loss_before: LossOrNull,
  /** Of the adapter as the trial left it: that of its best pass, where it was trained to its end. */
  loss_after: LossOrNull,
  /** 95 % bootstrap of `loss_after - loss_before`. */
  interval: Type.Union([Interval, Type.Null()]),
});
export type Trial = Static<typeof Trial>;

const Text = Strict({ windows: Type.Integer({ minimum: 1 }), supervised_tokens: Type.Integer({ minimum: 1 }) });

/** What a sweep tried, and what it chose: told while it runs, and with its adapter. */
export const Sweep = Strict({
  early_stopping: EarlyStopping,
  /** Shares of its steps after which the worse half of the trials is stopped. */
  halvings: Type.Array(Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1 })),
  trials: Type.Array(Trial, { minItems: 2 }),
  /** Number of the trial whose adapter is registered; null before it is chosen. */
  best: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
  /** Held-out text that chooses. */
  chosen_on: Text,
  /** Held-out text that no choice saw, and the proof is measured on; null: too little was held out, and the proof is optimistic. */
  unseen: Type.Union([Text, Type.Null()]),
});
export type Sweep = Static<typeof Sweep>;
