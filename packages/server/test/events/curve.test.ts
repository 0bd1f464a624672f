import fc from "fast-check";
import { expect, test } from "vitest";
import { createCurve } from "../../src/events/curve.js";
import { progressAt } from "../support/progress.js";

test("a curve of any length has at most so many points, evenly spread, the first and the last among them", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 4, max: 40 }), (count, limit) => {
      const curve = createCurve(limit);
      for (let step = 1; step <= count; step += 1) curve.add(progressAt(step));
      const steps = curve.points().map(({ step }) => step);
      expect(steps.length).toBeLessThanOrEqual(limit);
      expect(steps.length).toBeGreaterThanOrEqual(Math.min(count, Math.floor(limit / 2)));
      expect([steps[0], steps.at(-1)]).toEqual([1, count]);
      const gaps = steps.slice(1).map((step, index) => step - (steps[index] ?? 0));
      expect(new Set(gaps.slice(0, -1)).size).toBeLessThanOrEqual(1);
      expect(gaps.every((gap) => gap > 0 && gap <= (gaps[0] ?? 1))).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test("a training without steps has no curve, and a short one all of its steps", () => {
  const curve = createCurve(10);
  expect(curve.points()).toEqual([]);
  for (let step = 1; step <= 5; step += 1) curve.add(progressAt(step));
  expect(curve.points().map(({ step }) => step)).toEqual([1, 2, 3, 4, 5]);
});
