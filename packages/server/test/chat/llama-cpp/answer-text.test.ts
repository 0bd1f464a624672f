import fc from "fast-check";
import { expect, test } from "vitest";
import { createDetokenizer, createStopTexts } from "../../../src/chat/llama-cpp/answer-text.js";

/** A token a byte, as a byte-level vocabulary has them at worst. */
const decode = (tokens: readonly number[]): string =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(tokens));

test("pieces are whole characters, and together the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const characters = createDetokenizer(decode);
      let said = "";
      for (const byte of new TextEncoder().encode(text)) {
        said += characters.add(byte);
        expect(text.startsWith(said)).toBe(true);
      }
      expect(said + characters.rest()).toBe(text);
    }),
    { examples: [["\ufffd "], ["\ufeff"]] }, // the mark of half a character may itself be written
  );
});

const through = (pieces: readonly string[], stops: readonly string[]) => {
  const texts = createStopTexts(stops);
  let text = "";
  for (const piece of pieces) if (texts.found() === null) text += texts.add(piece);
  return { text: texts.found() === null ? text + texts.rest() : text, found: texts.found() };
};

const LETTERS = fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 20 });

test("the cut does not depend on how the text comes in pieces", () => {
  const stops = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "\n"), minLength: 1, maxLength: 4 }), { maxLength: 3 });
  fc.assert(
    fc.property(fc.array(LETTERS), stops, (pieces, texts) => {
      expect(through(pieces, texts)).toEqual(through([...pieces.join("")], texts));
    }),
  );
});

test("the stop text that is complete first ends the answer and is not part of it", () => {
  expect(through(["one tw", "o three"], ["three", "two"])).toEqual({ text: "one ", found: "two" });
});
