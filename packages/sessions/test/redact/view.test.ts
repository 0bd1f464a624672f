import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { viewOf } from "../../src/redact/view.js";

describe("the view of a text", () => {
  it.each([
    ["escapes of JSON", 'a\\n\\tb \\"c\\" \\/', 'a\n\tb "c" /'],
    ["escapes of JSON in JSON", '{\\\\\\"a\\\\\\": 1}\\\\n', '{"a": 1}\n'],
    ["colours", "\u001b[1;31mred\u001b[0m", "red"],
    ["colours as a program prints them", "\\u001b[31mred\\x1b[0m \\033[0m", "red "],
    ["entities", "&quot;a&#39;b&quot; &amp;", '"a\'b" &'],
    ["signs of addresses", "password%3Dx%26y", "password=x&y"],
    ["line ends of Windows", "a\r\nb", "a\nb"],
  ])("shows %s", (_, text, shown) => expect(viewOf(text).text).toBe(shown));

  it("knows where each of its characters stands", () => {
    const piece = fc.constantFrom(
      "a",
      "Z9",
      "\\n",
      '\\\\"',
      "\u001b[31m",
      "\\u001b[0m",
      "\\u0041",
      "&quot;",
      "%3D",
      "\r\n",
      " ",
      "é",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.nat(), fc.nat(), (pieces, from, length) => {
        const text = pieces.join("");
        const view = viewOf(text);
        if (view.text === "") return;
        const start = from % view.text.length;
        const end = start + 1 + (length % (view.text.length - start));
        const [first, last] = view.original(start, end);
        expect(first).toBeGreaterThanOrEqual(0);
        expect(last).toBeGreaterThan(first);
        expect(last).toBeLessThanOrEqual(text.length);
        expect(viewOf(text.slice(first, last)).text).toBe(view.text.slice(start, end));
      }),
    );
  });

  it("is the text itself where nothing is to be decoded", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", "B", "7", " ", "\n", "=", '"') }), (text) => {
        expect(viewOf(text).text).toBe(text);
        expect(viewOf(text).original(0, text.length)).toEqual([0, text.length]);
      }),
    );
  });
});
