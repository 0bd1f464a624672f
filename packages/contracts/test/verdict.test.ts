import {
  change,
  coverageText,
  harmSentence,
  type ImprintProof,
  isWorse,
  type Proof,
  scaleText,
  verdictOf,
} from "@imprint/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const proof: Proof = {
  supervised_tokens: 120,
  loss_before: 2,
  loss_after: 1,
  neutral_loss_before: 3,
  neutral_loss_after: 3,
  held_out: null,
  keys_expected: 4,
  keys_matched: 4,
  update_norm: 0.75,
  accepted_by: { peft: true, vllm: true, llama_cpp: true },
  remarks: [],
};
const imprint: ImprintProof = {
  scale: 0.12,
  calibration: {
    helps: false,
    tried: [
      { scale: 0.35, loss: null, neutral: [{ name: "mixed", loss: 4 }] },
      { scale: 0.12, loss: 2.1, neutral: [{ name: "mixed", loss: 3.05 }] },
    ],
  },
  coverage: {
    characters: 1200,
    characters_read: 599,
    kinds: [
      { kind: "user", characters: 200, characters_read: 200 },
      { kind: "results", characters: 1000, characters_read: 399 },
    ],
    tokens: 310,
    chunks: 2,
  },
  neutral: [{ name: "mixed", loss_before: 3, loss_after: 3.05 }],
};
const loss = fc.double({ min: 1e-6, max: 20, noNaN: true });
const anyProof = fc
  .record({ loss_before: loss, loss_after: loss, neutral_loss_before: loss, neutral_loss_after: loss })
  .map((losses) => ({ ...proof, ...losses }));

describe("verdictOf", () => {
  it.each([
    [{}, "learned"],
    [{ loss_after: 1.9 }, "learned"],
    [{ loss_after: 1.91 }, "hardly_learned"],
    [{ loss_after: 2 }, "hardly_learned"],
    [{ loss_after: 2.0001 }, "harms"],
    [{ neutral_loss_after: 3.29 }, "learned"],
    [{ neutral_loss_after: 3.31 }, "harms"],
    [{ neutral_loss_after: 2.5 }, "learned"],
    [{ loss_after: Number.NaN }, "harms"],
    [{ imprint }, "harms"],
    [{ imprint: { ...imprint, calibration: null } }, "learned"],
    [{ neutral_loss_after: Number.NaN }, "harms"],
  ] as const)("of %j is %s", (changes, verdict) => expect(verdictOf({ ...proof, ...changes })).toBe(verdict));

  it.each([
    [{}, false],
    [{ loss_after: 2.1 }, true],
    [{ held_out: { tokens: 9, loss_before: 2, loss_after: 2.1, interval: [-0.1, 0.3] } }, false],
    [{ held_out: { tokens: 9, loss_before: 2, loss_after: 2.1, interval: [0.05, 0.15] } }, true],
  ] as const)("of %j is worse: %s", (changes, worse) => expect(isWorse({ ...proof, ...changes } as Proof)).toBe(worse));

  it("is no better where a loss with the adapter is higher", () => {
    const order = ["harms", "hardly_learned", "learned"];
    fc.assert(
      fc.property(anyProof, fc.constantFrom("loss_after" as const, "neutral_loss_after" as const), loss, (one, field, more) => {
        const worse = { ...one, [field]: one[field] + more };
        expect(order.indexOf(verdictOf(worse))).toBeLessThanOrEqual(order.indexOf(verdictOf(one)));
      }),
    );
  });

  it("is that it harms exactly where its own text got worse, or neutral text by more than a tenth", () => {
    fc.assert(
      fc.property(anyProof, (one) => {
        const own = one.loss_after > one.loss_before;
        const neutral = one.neutral_loss_after > one.neutral_loss_before * 1.1;
        expect(verdictOf(one) === "harms").toBe(own || neutral);
      }),
    );
  });
});

it.each([
  [imprint, "0.12, the smallest: it helps at none of 2"],
  [{ ...imprint, scale: 0.5, calibration: { ...imprint.calibration, helps: true } }, "0.5, chosen of 2 that were tried"],
  [{ ...imprint, calibration: null }, "0.12, as asked"],
])("says how the scale of an imprint came about", (one, text) => {
  expect(scaleText(one as ImprintProof)).toBe(text);
});

it("says how much of the session an imprint read, never more than is true", () => {
  expect(coverageText(imprint)).toBe("49 % of 1200 characters (user 100 %, results 39 %), as 310 tokens in 2 chunks");
});

it.each([
  [
    { loss_after: 2.5 },
    "The adapter makes the model worse on its own text: own text 2.000 → 2.500 (+25 %), neutral text 3.000 → 3.000 (±0.0 %).",
  ],
  [
    { imprint },
    "The adapter helps at none of the 2 scales that were tried: own text 2.000 → 1.000 (−50 %), neutral text 3.000 → 3.000 (±0.0 %).",
  ],
  [
    { neutral_loss_after: 6 },
    "The adapter costs neutral text more than 10 %: own text 2.000 → 1.000 (−50 %), neutral text 3.000 → 6.000 (+100 %).",
  ],
  [
    { loss_after: 3, neutral_loss_after: 4 },
    "The adapter makes the model worse on its own text and costs neutral text more than 10 %: own text 2.000 → 3.000 (+50 %), neutral text 3.000 → 4.000 (+33 %).",
  ],
])("the sentence on %j gives the figures", (changes, sentence) => {
  expect(harmSentence({ ...proof, ...changes })).toBe(sentence);
});

it.each([
  [2, 0.1, "−95 %"],
  [1, 1.05, "+5.0 %"],
  [3, 3, "±0.0 %"],
  [3, 2.9999, "±0.0 %"],
  [-2, -1, "+50 %"],
  [0, 1, ""],
])("from %s to %s is %s", (before, after, expected) => {
  expect(change(before, after)).toBe(expected);
});
