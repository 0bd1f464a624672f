import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { names, plain, plainButStyles, plainJson, shorten } from "../../src/output/text.js";

/** What steers a terminal or is not seen, in the words of Unicode. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const STYLE = new RegExp(`${String.fromCharCode(27)}\\[\\d{1,2}m`, "g");
const anyText = fc.string({
  unit: fc.oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    fc.constantFrom("\u202e", "\u200b", "\r", "\n", "\u001b[31m"),
  ),
});

describe("plain", () => {
  it.each([
    ["\u001b[31mred\u001b[0m", "\\u001b[31mred\\u001b[0m"],
    ["\u001b]0;title\u0007text", "\\u001b]0;title\\u0007text"],
    ["a\rb\u0000c\u009b2J", "a\\u000db\\u0000c\\u009b2J"],
    ["abc\u202edcba\u2066x\u2069\u200b\ufeff", "abc\\u202edcba\\u2066x\\u2069\\u200b\\ufeff"],
    ["tag \u{e0041}, blank \u3164, line \u2028", "tag \\u{e0041}, blank \\u3164, line \\u2028"],
    ["two\r\nlines\n\tand a tab", "two\nlines\n\tand a tab"],
    ["größer, 漢字, עברית, ❤️ ✓", "größer, 漢字, עברית, ❤️ ✓"],
  ])("shows what is not seen in %j", (text, expected) => {
    expect(plain(text)).toBe(expected);
    expect(plain(expected)).toBe(expected);
  });

  it("leaves nothing unseen in any text, and styles only in painted text", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(plain(text)).not.toMatch(UNSEEN);
        expect(plainButStyles(text).replaceAll(STYLE, "")).not.toMatch(UNSEEN);
      }),
      { numRuns: 2000 },
    );
  });

  it("leaves nothing unseen in a document, which means the same", () => {
    fc.assert(
      fc.property(fc.dictionary(anyText, anyText), (value) => {
        expect(plainJson(value)).not.toMatch(UNSEEN);
        expect(JSON.parse(plainJson(value))).toEqual({ ...value });
      }),
      { numRuns: 1000 },
    );
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

describe("names", () => {
  it.each([
    [["a"], "a"],
    [["a", "b", "c"], "a, b, c"],
    [["a", "b", "c", "d"], "a, b, c and 1 other session"],
    [["a", "b", "c", "d", "e"], "a, b, c and 2 other sessions"],
  ])("of %j are %s", (all, said) => {
    expect(names(all, "session")).toBe(said);
  });
});
