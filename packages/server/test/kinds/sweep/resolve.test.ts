import { trialCounts, trialsFault } from "@imprint/contracts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { trialsOf } from "../../../src/kinds/sweep/resolve.js";

const values = { rank: [8, 16, 32], learning_rate: [1e-4, 3e-4] };

test("every combination is a trial, with twice the rank as its alpha", () => {
  const trials = trialsOf(values, 7);
  expect(trials).toHaveLength(6);
  expect(trials[0]).toEqual({ rank: 8, alpha: 16, learning_rate: 1e-4, epochs: null });
  expect(trials[5]).toEqual({ rank: 32, alpha: 64, learning_rate: 3e-4, epochs: null });
});

test("what a request does not name is as in a training alone", () => {
  expect(trialsOf({ epochs: [1, 2] }, 7)).toEqual([
    { rank: 16, alpha: 32, learning_rate: null, epochs: 1 },
    { rank: 16, alpha: 32, learning_rate: null, epochs: 2 },
  ]);
});

test("drawn trials are some of the combinations, the same ones for one seed, in their order", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 2, max: 8 }), (seed, trials) => {
      const all = trialsOf(values, seed);
      const drawn = trialsOf({ ...values, trials }, seed);
      expect(drawn).toHaveLength(Math.min(trials, all.length));
      expect(trialsOf({ ...values, trials }, seed)).toEqual(drawn);
      const places = drawn.map((one) => all.findIndex((other) => JSON.stringify(other) === JSON.stringify(one)));
      expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
      expect(places).not.toContain(-1);
    }),
  );
});

test("so many trials are drawn as is told before", () => {
  const some = fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 64 }), { minLength: 1, maxLength: 4 }), { nil: undefined });
  const lists = fc.record({
    rank: some,
    alpha: some,
    epochs: some,
    trials: fc.option(fc.integer({ min: 2, max: 64 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(lists, ({ rank, alpha, epochs, trials }) => {
      const given = { ...(rank && { rank }), ...(alpha && { alpha }), ...(epochs && { epochs }), ...(trials && { trials }) };
      fc.pre(trialsFault(given) === null);
      expect(trialsOf(given, 7)).toHaveLength(trialCounts(given).trials);
    }),
  );
});

test("one combination is refused, and so are more than can be tried", () => {
  expect(() => trialsOf({ rank: [8] }, 7)).toThrow("Field trials has nothing to compare: name several values of rank");
  const many = { rank: [1, 2, 3, 4, 5, 6, 7, 8, 9], epochs: [1, 2, 3, 4, 5, 6, 7, 8] };
  expect(() => trialsOf(many, 7)).toThrow("must be at most 64, and there are 72 combinations");
  expect(trialsOf({ ...many, trials: 5 }, 7)).toHaveLength(5);
});
