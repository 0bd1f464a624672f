import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytes, count, duration, plain, shorten } from "../../src/output/text.js";

describe("plain", () => {
  it.each([
    ["\u001b[31mred\u001b[0m", "red"],
    ["\u001b]0;title\u0007text", "text"],
    ["a\rb\u0000c\u009b2J", "abc"],
    ["two\nlines\tand a tab", "two\nlines\tand a tab"],
  ])("takes the steering out of %j", (text, expected) => {
    expect(plain(text)).toBe(expected);
  });

  it("leaves no control character in any text", () => {
    const steering = /(?![\n\t])\p{Cc}/u;
    fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => !steering.test(plain(text))));
  });
});

it("shortens to one line of the length, with an ellipsis", () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1, max: 50 }), (text, length) => {
      const line = shorten(text, length);
      expect(line.length).toBeLessThanOrEqual(length);
      expect(line).not.toContain("\n");
    }),
  );
  expect(shorten("one  two\nthree", 9)).toBe("one two …");
});

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
