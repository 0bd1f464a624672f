import fc from "fast-check";
import { expect, test } from "vitest";
import { createDetokenizer } from "../../../src/chat/llama-cpp/detokenizer.js";

/** A token a byte, as a byte-level vocabulary has them at worst. */
const decode = (tokens: readonly number[]): string => new TextDecoder().decode(Uint8Array.from(tokens));

test("pieces are whole characters, and together the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      const characters = createDetokenizer(decode);
      const pieces = [...new TextEncoder().encode(text)].map(characters.add);
      for (const piece of pieces) expect(piece).not.toContain("\ufffd");
      expect(pieces.join("") + characters.rest()).toBe(text);
    }),
  );
});
