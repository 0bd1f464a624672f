import fc from "fast-check";
import { expect, it } from "vitest";
import { chatOf } from "../../jobs/benchmark.mjs";

it("holds as many characters of the texts as its tokens take, and something to answer before each", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 1, maxLength: 50 }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 200 }),
      (texts, tokens) => {
        const { messages } = JSON.parse(chatOf({ texts, tokens, turn: "1" }));
        const said = messages.filter(({ role }) => role === "assistant").map(({ content }) => content.length);
        expect(said.reduce((sum, length) => sum + length, 0)).toBe(4 * tokens);
        expect(messages).toHaveLength(2 * said.length);
      },
    ),
  );
});
