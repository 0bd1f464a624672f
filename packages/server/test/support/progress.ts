import type { Progress } from "@imprint/contracts";

/** A training step with plausible figures. */
export const progressAt = (step: number, steps = 10_000): Progress => ({
  step,
  steps,
  epoch: step / steps,
  loss: 2.123456789 / step,
  learning_rate: 0.000123456,
  grad_norm: 1.23456789,
  tokens_per_second: 1234.5,
  supervised_tokens: 60,
  eta_seconds: (steps - step) / 100,
  peak_memory_mb: 640.5,
  held_out_loss: step < steps / 2 ? null : 1.23456789 / step,
});
