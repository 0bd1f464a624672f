import { expect, it } from "vitest";
import { median, wilson } from "../../src/privacy/statistics.js";

it("the median of an even number of values is the mean of the two in the middle", () => {
  expect(median([7, 1, 3])).toBe(3);
  expect(median([10, 1, 2, 4])).toBe(3);
});

it("Wilson's interval is that of published tables", () => {
  const rounded = (hits: number, count: number) => wilson(hits, count).map((share) => Math.round(1000 * share) / 1000);
  expect(rounded(0, 10)).toEqual([0, 0.278]);
  expect(rounded(10, 10)).toEqual([0.722, 1]);
  expect(rounded(5, 10)).toEqual([0.237, 0.763]);
});
