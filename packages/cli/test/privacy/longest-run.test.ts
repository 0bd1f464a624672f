import fc from "fast-check";
import { expect, it } from "vitest";
import { longestRun } from "../../src/privacy/longest-run.js";

const letters = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 12 });

/** Every piece of the value, tried. */
const bruteForce = (value: string, text: string): number => {
  const pieces = [...value].flatMap((_, start) => [...value].map((_, end) => value.slice(start, end + 1)));
  return Math.max(0, ...pieces.filter((piece) => text.includes(piece)).map((piece) => piece.length));
};

it("is the length of the longest piece that both have", () => {
  fc.assert(
    fc.property(letters, letters, (value, text) => {
      expect(longestRun(value, text)).toBe(bruteForce(value, text));
    }),
  );
  expect(longestRun("7kQ2", "the key is 7kQ2.")).toBe(4);
});
