import { expect, test } from "vitest";
import { intervalText, meaningOf, percent, pValue, rowName, signed } from "../../src/text/evaluation.js";

test.each([
  [[-0.3, -0.1], "better"],
  [[0.1, 0.3], "worse"],
  [[-0.1, 0.3], "may be chance"],
  [[-0.1, 0], "may be chance"],
  [[0, 0.1], "may be chance"],
  [[0, 0], "may be chance"],
] as const)("a change of the loss between %j is: %s", (interval, meaning) => {
  expect(meaningOf(interval)).toBe(meaning);
});

test("differences have a sign that can be told from a hyphen, and the control its name", () => {
  expect([signed(0.1234), signed(-0.1234), signed(0)]).toEqual(["+0.123", "−0.123", "±0"]);
  expect(intervalText([-0.2, 0.05])).toBe("−0.2 to +0.05");
  expect(rowName({ row: "control", adapter_id: "other" })).toBe("With the control other");
});

test("shares and p values keep what is small apart from nothing", () => {
  expect([percent(0), percent(0.012), percent(0.5), percent(1)]).toEqual(["0 %", "1.2 %", "50 %", "100 %"]);
  expect([pValue(1), pValue(0.0312), pValue(0.00002)]).toEqual(["1", "0.031", "< 0.001"]);
});
