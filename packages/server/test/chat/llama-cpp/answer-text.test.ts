import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createDetokenizer, createPieces, createStopTexts } from "../../../src/chat/llama-cpp/answer-text.js";

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

describe("pieces that are told", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  test("the first comes at once, what follows soon comes together, and what comes later at once again", () => {
    const told: string[] = [];
    const pieces = createPieces((text) => told.push(text));
    pieces.add("a");
    expect(told).toEqual(["a"]);
    for (const text of "bc") pieces.add(text);
    expect(told).toEqual(["a"]);
    vi.advanceTimersByTime(50);
    expect(told).toEqual(["a", "bc"]);
    pieces.add("d");
    vi.advanceTimersByTime(49);
    expect(told).toEqual(["a", "bc"]);
    vi.advanceTimersByTime(51);
    expect(told).toEqual(["a", "bc", "d"]);
    vi.advanceTimersByTime(50);
    pieces.add("e");
    pieces.add("f");
    expect(told).toEqual(["a", "bc", "d", "e"]);
    pieces.end();
    expect(told).toEqual(["a", "bc", "d", "e", "f"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("together they are the text, and none waits longer than a moment", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.nat({ max: 120 }))), (written) => {
        let [said, text] = ["", ""];
        const pieces = createPieces((piece) => {
          said += piece;
        });
        for (const [piece, ms] of written) {
          pieces.add(piece);
          text += piece;
          vi.advanceTimersByTime(ms);
          if (ms >= 50) expect(said).toBe(text);
        }
        pieces.end();
        expect(said).toBe(text);
        expect(vi.getTimerCount()).toBe(0);
      }),
    );
  });
});
