import fc from "fast-check";
import { expect, test } from "vitest";
import { estimateTime } from "../../../src/kinds/lora/estimate.js";

test("the time comes from the middle of the last speeds, whatever their order", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0.1, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 5 }), (speeds) => {
      const { estimated_seconds } = estimateTime({ tokens: 1000, speeds, baseModel: "m" });
      const slower = speeds.filter((speed) => 1000 / speed > (estimated_seconds ?? 0)).length;
      const faster = speeds.filter((speed) => 1000 / speed < (estimated_seconds ?? 0)).length;
      expect(Math.max(slower, faster)).toBeLessThanOrEqual(speeds.length / 2);
    }),
  );
});

test("without a speed there is a sentence and no number", () => {
  const { estimated_seconds, estimate } = estimateTime({ tokens: 1000, speeds: [], baseModel: "m" });
  expect(estimated_seconds).toBeNull();
  expect(estimate).toMatch(/^No training of m .*\.$/);
});
