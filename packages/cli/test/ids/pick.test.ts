import fc from "fast-check";
import { expect, it } from "vitest";
import { UsageError } from "../../src/errors.js";
import { pick, SHORTEST_PREFIX } from "../../src/ids/pick.js";

const id = fc.stringMatching(/^[ab][abc]{0,7}$/);

it("means an id itself, or the only one that begins so, and never guesses", () => {
  fc.assert(
    fc.property(fc.uniqueArray(id, { maxLength: 8 }), id, (ids, given) => {
      const begun = ids.filter((one) => one.startsWith(given));
      const picked = (): string | null => pick(given, ids);
      if (ids.includes(given)) expect(picked()).toBe(given);
      else if (given.length < SHORTEST_PREFIX || begun.length === 0) expect(picked()).toBeNull();
      else if (begun.length === 1) expect(picked()).toBe(begun[0]);
      else expect(picked).toThrow(UsageError);
    }),
    { numRuns: 2000 },
  );
});

it("names the candidates, ten at most", () => {
  const ids = Array.from({ length: 12 }, (_, index) => `gate-${index}`);
  expect(() => pick("gate", ids.slice(0, 2))).toThrow('"gate" begins more than one id: write more of it\ngate-0\ngate-1');
  expect(() => pick("gate", ids)).toThrow(/gate-9\nand others$/);
});
