import { expect, test } from "vitest";
import { solvedText } from "../../src/text/tasks.js";

const ROW = {
  row: "adapter",
  solved: 3,
  of: 4,
  interval: [0.25, 1],
  change: 0.5,
  change_interval: [0, 1],
  p_value: 0.5,
} as const;

test("what a row solved has its interval, and how far it is from the base where there is one to compare with", () => {
  const { interval, change_interval, ...rest } = ROW;
  const row = { ...rest, interval: [...interval] as [number, number], change_interval: [...change_interval] as [number, number] };
  expect(solvedText(row)).toBe("3 of 4 (25 % to 100 %), +50 points, p 0.5");
  expect(solvedText({ ...row, row: "base", change: null, p_value: null })).toBe("3 of 4 (25 % to 100 %)");
  expect(solvedText({ ...row, solved: 0, of: 0, interval: null, change: null, p_value: null })).toBe("0 of 0");
});
