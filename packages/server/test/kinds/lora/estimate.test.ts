import fc from "fast-check";
import { expect, test } from "vitest";
import { estimateTime, tokensOf } from "../../../src/kinds/lora/estimate.js";

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

test("what is held out is read before the first epoch and after each, at a third of the work", () => {
  const held_out = { sessions: ["s"], whole: true, windows: 1, tokens: 90, supervised_tokens: 9 };
  expect(tokensOf({ tokens: 100, max_tokens: 300, held_out: null })).toBe(300);
  expect(tokensOf({ tokens: 100, max_tokens: 300, held_out })).toBe(420);
});

test("without a speed there is a sentence and no number", () => {
  const { estimated_seconds, estimate } = estimateTime({ tokens: 1000, speeds: [], baseModel: "m" });
  expect(estimated_seconds).toBeNull();
  expect(estimate).toMatch(/^No training of m .*\.$/);
});
