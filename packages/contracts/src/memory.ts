import { type Static, Type } from "typebox";
import { Strict } from "./object.js";

const Megabytes = Type.Number({ minimum: 0 });

/** What a training takes at its peak, in MB of 10^6 bytes: docs/training.md. */
export const MemoryPlan = Strict({
  weights_mb: Megabytes,
  activations_mb: Megabytes,
  optimizer_mb: Megabytes,
  logits_mb: Megabytes,
  total_mb: Type.Number({ minimum: 0, description: "With what the trainer itself takes" }),
  available_mb: Type.Number({ minimum: 0, description: "To the trainer, what it holds already included" }),
  fits: Type.Boolean(),
  suggestion: Type.Union([Type.String(), Type.Null()], {
    description: "A sentence: the nearest setting that fits; null where it fits",
  }),
});
export type MemoryPlan = Static<typeof MemoryPlan>;

/** Null: config.json of the base model does not name its sizes. */
export const MemoryPlanOrNull = Type.Union([MemoryPlan, Type.Null()]);
