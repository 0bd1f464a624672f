import fc from "fast-check";
import { expect, test } from "vitest";
import { differing } from "../../src/playground/differing.js";

const own = (text: string, other: string): string[] =>
  differing(text, other)
    .filter(({ isOwn }) => isOwn)
    .map((part) => part.text.trim());

test("what the other text lacks is told from what both have, in order", () => {
  expect(own("the gate has port 7, I think", "the gate has no port")).toEqual(["7, I think"]);
  expect(own("a b c d", "a x c d")).toEqual(["b"]);
  expect(own("one two", "two one")).toHaveLength(1);
  expect(own("same words", "same words")).toEqual([]);
  expect(own("anything", "")).toEqual([]);
});

test("the parts are the text, and what both have stands in the other in order", () => {
  const text = fc.array(fc.constantFrom("a", "b", "c", " ", "\n")).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, text, (one, other) => {
      const parts = differing(one, other);
      expect(parts.map((part) => part.text).join("")).toBe(one);
      let from = 0;
      for (const word of parts.filter(({ isOwn }) => !isOwn).flatMap((part) => part.text.match(/\s+|\S+/g) ?? [])) {
        if (other === "") break;
        const found = other.indexOf(word, from);
        expect(found).toBeGreaterThanOrEqual(0);
        from = found + word.length;
      }
    }),
  );
});
