import type { Progress } from "@imprint/contracts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { addStep } from "../../src/live/job-state.js";

const step = (at: number): Progress => ({
  step: at,
  steps: 10_000,
  epoch: 0,
  loss: 1 / at,
  learning_rate: 0.001,
  grad_norm: 1,
  tokens_per_second: 1,
  supervised_tokens: at,
  eta_seconds: 0,
  peak_memory_mb: 0,
  held_out_loss: null,
});

test("steps stay in order, none twice, whatever is told again after a reconnect", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 100 }), (told) => {
      const steps = told.reduce((curve, at) => addStep(curve, step(at)), addStep([], step(1))).map((one) => one.step);
      expect(steps).toEqual([...new Set(steps)].toSorted((one, other) => one - other));
      expect(steps.at(-1)).toBe(Math.max(1, ...told));
    }),
  );
});

test("a long curve stays bounded, and keeps its first and its last step", () => {
  let curve = addStep([], step(1));
  for (let at = 2; at <= 10_000; at += 1) curve = addStep(curve, step(at));
  expect(curve.length).toBeLessThanOrEqual(4_001);
  expect(curve.length).toBeGreaterThan(1_000);
  expect([curve[0]?.step, curve.at(-1)?.step]).toEqual([1, 10_000]);
});
