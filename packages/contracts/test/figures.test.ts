import { bytes, count, duration } from "@imprint/contracts";
import { expect, it } from "vitest";

it.each([
  [0, "0 B"],
  [999, "999 B"],
  [1_000, "1.0 kB"],
  [123_456_789, "123 MB"],
  [4_200_000_000, "4.2 GB"],
])("%i bytes are %s", (amount, expected) => {
  expect(bytes(amount)).toBe(expected);
});

it.each([
  [0, "0:00"],
  [7.4, "0:07"],
  [59.6, "1:00"],
  [750, "12:30"],
  [3_723, "1:02:03"],
])("%s seconds are %s", (seconds, expected) => {
  expect(duration(seconds)).toBe(expected);
});

it("counts in the plural but for one", () => {
  expect([count(0, "job"), count(1, "job"), count(1_200, "job")]).toEqual(["0 jobs", "1 job", "1,200 jobs"]);
});
