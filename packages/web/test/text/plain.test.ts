import fc from "fast-check";
import { expect, test } from "vitest";
import { plain } from "../../src/text/plain.js";

test.each([
  ["\u001b[31mred\u001b[0m", "red"],
  ["\u001b]0;a title\u0007after", "after"],
  ["\u001b]8;;http://a.b\u001b\\link\u001b]8;;\u001b\\", "link"],
  ["one\r\ntwo\n", "one\ntwo\n"],
  ["10 %\r90 %\rdone\nnext", "done\nnext"],
  ["bell\u0007 and\ttab", "bell and\ttab"],
  ["\u001b(Bcharset", "charset"],
])("%j is shown as %j", (text, shown) => {
  expect(plain(text)).toBe(shown);
});

test("no text leaves an escape or a control character behind, and plain text stays as it is", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("\u001b", "[", "]", "3", "1", "m", ";", "\u0007", "\r", "\n", "a", "\\") }),
      (text) => {
        expect(plain(text)).not.toMatch(/(?![\n\t])\p{Cc}/u);
        expect(plain(plain(text))).toBe(plain(text));
      },
    ),
  );
  fc.assert(
    fc.property(fc.stringMatching(/^[ -~\n\tä€]*$/u), (text) => {
      expect(plain(text)).toBe(text);
    }),
  );
});
